import { afterEach, expect, test } from 'vitest'
import { RespConnection } from '../../src/cli/resp-connection.js'
import { Processes, until } from './process.js'

const processes = new Processes()
afterEach(() => processes.end())

test('the demonstration runs nodes that can be talked to and joined, and ends with all of them', async () => {
  const demo = processes.run('demo', '--nodes', '2')
  await demo.line(/\nready\n$/)
  const addresses = [...demo.stdout.matchAll(/^ {2}node-\d {2}(\S+)$/gm)].map(([, one]) => one)
  expect(addresses).toHaveLength(2)
  const connection = await RespConnection.open(addresses[1])
  await until('some traffic', async () => (await connection.call('GET', 'demo:1')) !== null)
  connection.close()
  const [, command] = /add a node +npx opencluster (.*)$/m.exec(demo.stdout)!
  const third = processes.run(...command.split(' '))
  await third.line(/^opencluster ready /)
  demo.signal('SIGTERM')
  expect(await demo.ended).toEqual({ code: 0, signal: null })
  for (const address of addresses) {
    await expect(RespConnection.open(address)).rejects.toThrow('cannot reach a node')
  }
})

test('the balancing rules alone', async () => {
  const demo = processes.run('demo', '--rules')
  expect((await demo.ended).code).toBe(0)
  expect(demo.stdout).toContain('NODE-F joins. 6 nodes: 5 shipped, 5 needed;')
})
