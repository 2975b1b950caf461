/** Document 003's own session, typed in: first node, second with `-a -u`, third with `-h`, the configuration, removal. */
import { createServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { NodeProcess, Processes, until } from '../integration/process.js'
import { Readers, writeKeys } from './readers.js'
import { call, configOf, untilSettled } from './ring-process.js'

/** A busy machine must not look like a dead node: that a dead one is missed is another promise. */
const PATIENT = ['--dead-after-ms', '8000']
const processes = new Processes()
const started: NodeProcess[] = []

afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.kill()))
  await processes.end()
})

async function start(...args: string[]): Promise<NodeProcess> {
  const node = new NodeProcess(['start', ...args])
  started.push(node)
  return node.serves()
}

/** The document's ports may be taken. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, 'localhost', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

it('goes as the document has it', async () => {
  const [first, second, third] = [await freePort(), await freePort(), await freePort()]
  const a = await start('-p', `${first}`, ...PATIENT)
  await writeKeys(a)
  let serving: readonly NodeProcess[] = [a]
  const readers = new Readers(() => serving)
  const b = await start('-a', '-u', `http://localhost:${first}`, '-p', `${second}`, ...PATIENT)
  await untilSettled([a, b])
  serving = [a, b]
  const urls = [`http://localhost:${first}`, `http://localhost:${second}`]
  expect(Object.keys((await configOf(b)).urlToHash).sort()).toEqual([...urls].sort())
  for (const url of urls) expect((await configOf(a)).urlToHash[url]).toHaveLength(4)

  const positions = ['-h', '0', '1000']
  const c = await start('-a', '-u', urls[1], '-p', `${third}`, ...positions, ...PATIENT)
  await untilSettled([a, b, c])
  serving = [a, c]
  expect((await configOf(a)).urlToHash[`http://localhost:${third}`]).toEqual([0, 1000])

  for (let i = 0; i < 200; i++) {
    const { status } = await call(a, 'PUT', `/v0/entity?id=typed${i}&ack=1&from=1`, {
      body: `v${i}`
    })
    expect(status).toBe(201)
  }
  const removal = await call(b, 'GET', '/v0/maindeletenode')
  expect(removal.status).toBe(200)
  await untilSettled([a, c], 2)
  expect(await b.ended).toEqual({ code: 0, signal: null })
  await readers.stop()
  expect(readers.failures).toEqual([])
  // Every key was read while something changed, and many of them often.
  expect(readers.reads).toBeGreaterThan(1000)
  for (let i = 0; i < 200; i++) {
    const { status, body } = await call(c, 'GET', `/v0/entity?id=typed${i}&ack=1&from=1`)
    expect([status, body.toString()]).toEqual([200, `v${i}`])
  }
})

it("says what is wrong with the document's words", async () => {
  const alone = processes.run('start', '-p', '1', '-a')
  await alone.ended
  expect(alone.stderr).toContain('-u: -a needs the URL of a node of the ring')
  const nowhere = processes.run('start', '-p', '1', '-a', '-u', 'http://localhost:1')
  await until('the end', () => !nowhere.isRunning)
  expect(nowhere.stderr).toContain('-u http://localhost:1')
})
