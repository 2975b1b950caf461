/** Ten thousand keys, read by a loop that never stops, while nodes join and leave: not one answer is missing. */
import { afterEach, expect, it } from 'vitest'
import { Processes, until, type NodeProcess } from '../integration/process.js'
import { KEYS, Readers, writeKeys } from './readers.js'
import { call, configOf, startRing, untilSettled } from './ring-process.js'

/** A busy machine must not look like a dead node: that a dead one is missed is another promise. */
const PATIENT = ['--dead-after-ms', '8000']
const processes = new Processes()
afterEach(() => processes.end())

it('gives records the copies they should have when nodes come', async () => {
  const [a] = await startRing(processes, ['a'], '--copies', '3')
  for (let i = 0; i < 50; i++) await call(a, 'PUT', `/v0/entity?id=key${i}`, { body: 'v' })
  const others = ['b', 'c', 'd'].map((name) =>
    processes.start(name, '--placement', 'ring', '--join', a.address)
  )
  const nodes = [a, ...(await Promise.all(others))]
  await untilSettled(nodes)
  await until('three copies of each', async () => {
    const { nodes: seen } = await configOf(a)
    return seen.reduce((sum, { records }) => sum + records, 0) === 150
  })
  await a.kill()
  for (let i = 0; i < 50; i++) {
    expect((await call(nodes[1], 'GET', `/v0/entity?id=key${i}&ack=2&from=3`)).status).toBe(200)
  }
})

it('leaves every key readable at every moment', async () => {
  const [a, b] = await startRing(processes, ['a', 'b'], ...PATIENT)
  await writeKeys(a)
  let serving: readonly NodeProcess[] = [a, b]
  const readers = new Readers(() => serving)
  const c = await processes.start('c', '--placement', 'ring', '--join', a.address, ...PATIENT)
  await untilSettled([a, b, c])
  serving = [a, b, c]
  const d = await processes.start('d', '--placement', 'ring', '--join', c.address, ...PATIENT)
  await untilSettled([a, b, c, d])
  serving = [a, c, d]
  expect((await call(b, 'POST', '/v0/maindeletenode')).status).toBe(200)
  await untilSettled([a, c, d])
  await b.ended
  await readers.stop()
  expect(readers.failures).toEqual([])
  expect(readers.reads).toBeGreaterThan(1000)
  const { nodes } = await configOf(a)
  expect(nodes.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThanOrEqual(2 * KEYS)
})

it('takes one position more and one fewer while it runs, and says what is to have more copies', async () => {
  const [a, b] = await startRing(processes, ['a', 'b'], '--copies', '1', ...PATIENT)
  for (let i = 0; i < 200; i++) {
    expect((await call(a, 'PUT', `/v0/entity?id=key${i}`, { body: `v${i}` })).status).toBe(201)
  }
  const url = `http://${a.http}`
  const [first, ...others] = (await configOf(a)).urlToHash[url]
  const changed = async (query: string, wanted: number[]): Promise<void> => {
    expect((await call(a, 'POST', `/v0/positions?${query}`)).status).toBe(202)
    await until(query, async () => {
      const { urlToHash, stage } = await configOf(b)
      return stage === 'rest' && String(urlToHash[url]) === String(wanted)
    })
    for (let i = 0; i < 200; i++) {
      expect((await call(b, 'GET', `/v0/entity?id=key${i}`)).body.toString()).toBe(`v${i}`)
    }
  }
  await changed('add=-1000000000', [first, ...others, -1000000000])
  await changed('add=2147483647', [first, ...others, -1000000000, 2147483647])
  await changed(`drop=${first}`, [...others, -1000000000, 2147483647])
  for (const query of ['', 'add=x', 'add=2147483648', 'add=2147483647', 'drop=5', 'add=1&drop=2']) {
    expect([query, (await call(a, 'POST', `/v0/positions?${query}`)).status]).toEqual([query, 400])
  }
  await call(a, 'PUT', '/v0/entity?id=both&ack=2&from=2', { body: 'v' })
  expect((await configOf(a)).underReplicatedRecords).toBe(0)
  await call(b, 'POST', '/v0/maindeletenode')
  await b.ended
  await until('a report', async () => (await configOf(a)).underReplicatedRecords === 1)
  const c = await processes.start('c', '--placement', 'ring', '--join', a.address, ...PATIENT)
  await untilSettled([a, c])
  expect((await configOf(a)).underReplicatedRecords).toBe(0)
  expect((await call(c, 'GET', '/v0/entities?start=both&end=both0')).body.toString()).toBe(
    'both\nv'
  )
})
