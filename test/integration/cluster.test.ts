import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { RespConnection } from '../../src/cli/resp-connection.js'
import { Processes, until, untilBalanced } from './process.js'

const processes = new Processes()
const folder = mkdtempSync(join(tmpdir(), 'opencluster-cluster-'))
afterEach(() => processes.end())
afterAll(() => rmSync(folder, { recursive: true }))

const KEYS = 2000
const keyOf = (i: number): string => `key:${i}`
const valueOf = (i: number): string => `value ${i} ${'x'.repeat(i % 100)}`

/** Writes all keys, many at a time; gives those that were acknowledged. */
async function fill(connection: RespConnection, from: number, to: number): Promise<number[]> {
  const numbers = Array.from({ length: to - from }, (_, i) => from + i)
  const replies = await Promise.allSettled(
    numbers.map((i) => connection.call('SET', keyOf(i), valueOf(i)))
  )
  return numbers.filter((_, place) => {
    const reply = replies[place]
    return reply.status === 'fulfilled' && reply.value === 'OK'
  })
}

async function expectAll(connection: RespConnection, numbers: readonly number[]): Promise<void> {
  const values = await Promise.all(numbers.map((i) => connection.call('GET', keyOf(i))))
  const wrong = numbers.filter((i, place) => values[place] !== valueOf(i))
  expect(wrong).toEqual([])
}

test('three nodes: written through one, read through another, killed, and read again', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  const status = await b.status()
  expect(status).toMatchObject({ withoutBackup: 0, lost: 0, balanced: true })
  const writer = await processes.connect(a)
  const written = await fill(writer, 0, KEYS)
  expect(written).toHaveLength(KEYS)
  await expectAll(await processes.connect(b), written)

  // While writes go on: those that were acknowledged must be there, wherever the node was with the others.
  const more = fill(writer, KEYS, 2 * KEYS)
  c.signal('SIGKILL')
  const acknowledged = [...written, ...(await more)]
  expect(acknowledged.length).toBeGreaterThan(KEYS)
  await expectAll(await processes.connect(b), acknowledged)
  await untilBalanced([a, b])
  expect(await a.status()).toMatchObject({ withoutBackup: 0, lost: 0 })
  await expectAll(await processes.connect(a), acknowledged)
})

test('a node that gets SIGTERM hands everything over, and nothing is lost or refused', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  const writer = await processes.connect(a)
  await fill(writer, 0, KEYS)
  const more = fill(writer, KEYS, 2 * KEYS)
  b.signal('SIGTERM')
  expect(await b.ended).toEqual({ code: 0, signal: null })
  expect(b.stderr).toMatch(/leaving: (\d+) of \1 copies handed over/)
  expect(await more).toHaveLength(KEYS)
  const numbers = Array.from({ length: 2 * KEYS }, (_, i) => i)
  await expectAll(await processes.connect(c), numbers)
  await untilBalanced([a, c])

  const leave = processes.run('leave', '--node', c.address)
  expect(await leave.ended).toEqual({ code: 0, signal: null })
  expect(await c.ended).toEqual({ code: 0, signal: null })
  await expectAll(await processes.connect(a), numbers)
})

test('a killed node that comes back under its name and port is a member again', async () => {
  const [a, b] = await processes.cluster(['a', 'b'])
  const connection = await processes.connect(a)
  const written = await fill(connection, 0, 200)
  const port = b.address.slice(b.address.lastIndexOf(':') + 1)
  await b.kill()
  const again = await processes.start('b', '--port', port, '--join', a.address)
  await untilBalanced([a, again])
  await expectAll(await processes.connect(again), written)
})

test('only who knows the secret gets in', async () => {
  const [right, wrong] = ['right', 'wrong'].map((name) => join(folder, name))
  writeFileSync(right, 'the secret of this cluster\n')
  writeFileSync(wrong, 'the secret of another one\n')
  const [a] = await processes.cluster(['a', 'b'], '--secret-file', right)
  for (const [name, args] of [
    ['c', ['--secret-file', wrong]],
    ['d', []]
  ] as const) {
    const stranger = processes.launch(name, '--join', a.address, ...args)
    await until('both to say so', () => {
      const [here, there] = [a.stderr, stranger.stderr]
      return here.includes(`${name} has another secret`) && there.includes('it has another secret')
    })
    expect(stranger.stdout).toBe('')
    await stranger.kill()
  }
  const { nodes } = await a.status()
  expect(nodes.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('a cluster that cannot be joined is told and ends with 1', async () => {
  const a = await processes.start('a')
  const namesake = processes.launch('a', '--join', a.address)
  expect((await namesake.ended).code).toBe(1)
  expect(namesake.stderr).toContain(`${a.address} has a node named a already; give another --name`)
  const other = processes.launch('b', '--join', a.address, '--hash', 'md5')
  expect((await other.ended).code).toBe(1)
  expect(other.stderr).toContain('the cluster places keys by redis, this node by md5')
})

test('status draws the table of the documents for 16 buckets', async () => {
  const [, b] = await processes.cluster(['NODE-A', 'NODE-B'], '--buckets', '16', '--split-at', '0')
  const status = processes.run('status', '--node', b.address)
  expect((await status.ended).code).toBe(0)
  const lines = status.stdout.split('\n')
  expect(lines[0]).toMatch(/^cluster [0-9a-f]{8}, 16 buckets, 2 copies, balanced$/)
  expect(lines).toContain(' | NODE-A | | NODE-B |')
  expect(lines.at(-2)).toBe('   8+8=16     8+8=16')
  const why = processes.run('status', '--node', b.address, '--explain')
  expect((await why.ended).code).toBe(0)
  expect(why.stdout).toMatch(/^NODE-A holds 8\+8=16, its share is 16$/m)
  expect(why.stdout).toMatch(/^ +no {2}primary-shares +NODE-A has 8 primaries and keeps them$/m)
})
