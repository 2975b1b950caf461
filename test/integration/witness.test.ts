/**
 * Two nodes and a witness: three that decide by majority, of which one may end. When two have, the
 * last one cannot know whether they go on without it, and serves nothing until somebody answers for
 * that (docs/consistency.md).
 */
import { afterEach, expect, test } from 'vitest'
import type { RespConnection } from '../../src/cli/resp-connection.js'
import type { Status } from '../../src/index.js'
import { readMetric } from './observation.js'
import type { NodeProcess } from './process.js'
import { Processes, until, untilBalanced, untilMajority, type Process } from './process.js'

const processes = new Processes()
afterEach(() => processes.end())

const KEYS = 500
const keyOf = (i: number): string => `key:${i}`

/** Gives how many were acknowledged. */
async function write(connection: RespConnection, value: string): Promise<number> {
  const numbers = Array.from({ length: KEYS }, (_, i) => i)
  const replies = await Promise.all(
    numbers.map((i) => connection.call('SET', keyOf(i), `${value} ${i}`))
  )
  return replies.filter((reply) => reply === 'OK').length
}

async function expectAll(connection: RespConnection, value: string): Promise<void> {
  const numbers = Array.from({ length: KEYS }, (_, i) => i)
  const values = await Promise.all(numbers.map((i) => connection.call('GET', keyOf(i))))
  expect(values).toEqual(numbers.map((i) => `${value} ${i}`))
}

async function ends(process: Process): Promise<string> {
  expect((await process.ended).code, process.stderr).toBe(0)
  return process.stdout
}

async function shownBy(node: NodeProcess): Promise<Status> {
  const status = processes.run('status', '--json', '--node', node.address)
  return JSON.parse(await ends(status)) as Status
}

test('a witness makes a majority of two, holds nothing, and the last of three waits', async () => {
  const [a, b] = await processes.cluster(['a', 'b'])
  expect((await a.ownStatus()).policy).toBe('available')
  const w = await processes.startWitness('w', a)
  await untilBalanced([a, b, w])
  await untilMajority([a, b, w])
  const status = await shownBy(w)
  expect(status).toMatchObject({ node: 'w', policy: 'majority', balanced: true, withoutBackup: 0 })
  expect(status.nodes.find(({ name }) => name === 'w')).toMatchObject({
    ...{ state: 'alive', primaries: 0, backups: 0, items: 0 }
  })
  const holders = new Set(status.buckets.flatMap(({ primary, backups }) => [primary, ...backups]))
  expect([...holders].sort()).toEqual(['a', 'b'])

  // It is as good a door as any other: it holds nothing, so everything is sent on.
  const throughWitness = await processes.connect(w)
  expect(await write(throughWitness, 'first')).toBe(KEYS)
  expect(await throughWitness.call('INCR', 'count')).toBe(1)
  await expectAll(await processes.connect(b), 'first')
  expect(await throughWitness.call('MGET', keyOf(0), keyOf(1))).toEqual(['first 0', 'first 1'])
  await expect(throughWitness.call('INCR', keyOf(0))).rejects.toThrow(/^ERR value is not an int/)
  expect((await w.ownStatus()).nodes.find(({ name }) => name === 'w')).toMatchObject({ items: 0 })

  // Together with the witness, the other is a majority.
  await b.kill()
  await expectAll(throughWitness, 'first')
  const alone = await processes.connect(a)
  await expectAll(alone, 'first')
  expect(await write(alone, 'second')).toBe(KEYS)
  expect(await throughWitness.call('INCR', 'count')).toBe(2)
  expect(await a.status()).toMatchObject({ policy: 'majority', lost: 0 })

  await w.kill()
  await until('its lease to run out', async () => {
    return (await readMetric(a, 'opencluster_serving')) === 0
  })
  expect((await fetch(`http://${a.http}/health`)).status).toBe(503)
  // On a connection of its own each, since one would wait for the other.
  const reader = await processes.connect(a)
  const refused = await Promise.allSettled([
    alone.call('SET', keyOf(0), 'third'),
    reader.call('GET', keyOf(1))
  ])
  expect(refused.map((it) => (it.status === 'rejected' ? String(it.reason) : it.value))).toEqual([
    expect.stringContaining('OC_TIMEOUT'),
    expect.stringContaining('OC_TIMEOUT')
  ])
  const timid = processes.run('forget', 'b', '--node', a.address)
  expect((await timid.ended).code).toBe(1)
  expect(timid.stderr).toContain('too few voters can be heard to decide without b')

  // Somebody answers for it that both have ended: what was acknowledged is there, what was refused
  // is not.
  for (const name of ['b', 'w']) {
    const forget = processes.run('forget', name, '--force', '--node', a.address)
    expect(await ends(forget)).toBe(`${name} is forgotten\n`)
  }
  await expectAll(alone, 'second')
  expect(await write(alone, 'fourth')).toBe(KEYS)
  expect(await alone.call('INCR', 'count')).toBe(3)
})

test('a witness needs a cluster to vote in', async () => {
  const lonely = processes.run('witness', '--port', '0', '--http-port', '0')
  expect((await lonely.ended).code).toBe(2)
  expect(lonely.stderr).toContain('--join: a witness needs a cluster to vote in')
})
