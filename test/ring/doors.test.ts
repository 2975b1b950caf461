/** The other doors: ranges where the placement is buckets, and what a ring says of itself and to Redis clients. */
import { Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { Processes, until } from '../integration/process.js'
import { sendRaw } from './raw.js'
import { call, startRing } from './ring-process.js'

const processes = new Processes()
const clients: Redis[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  await processes.end()
})

it('gives ranges over buckets in the order of keys, of a node and of all', async () => {
  const nodes = await processes.cluster(['a', 'b', 'c'])
  const names = Array.from({ length: 300 }, (_, i) => `key${String(i).padStart(3, '0')}`)
  await Promise.all(
    names.map((id, i) => call(nodes[i % 3], 'PUT', `/v0/entity?id=${id}`, { body: `<${i}>` }))
  )
  const whole = names.map((id, i) => `${id}\n<${i}>`).join('')
  const read = async (node: number, query: string): Promise<string> =>
    (await call(nodes[node], 'GET', `/v0/entities?${query}`)).body.toString()
  for (const node of [0, 1, 2]) expect(await read(node, 'start=a&scope=cluster')).toBe(whole)
  expect(await read(1, 'start=key010&end=key012&scope=cluster')).toBe('key010\n<10>key011\n<11>')
  expect(await read(1, 'start=x&scope=cluster')).toBe('')
  const parts = await Promise.all([0, 1, 2].map((node) => read(node, 'start=a')))
  const keysOf = (text: string): string[] => text.match(/key\d{3}/g) ?? []
  for (const part of parts) {
    expect(keysOf(part)).toEqual([...keysOf(part)].sort())
    expect(keysOf(part).length).toBeGreaterThan(20)
  }
  expect(parts.flatMap(keysOf).sort()).toEqual(names)
  const wire = await sendRaw(
    nodes[0].http,
    `GET /v0/entities?start=key000&end=key002&scope=cluster HTTP/1.1\r\nhost: ${nodes[0].http}\r\nconnection: close\r\n\r\n`
  )
  expect(wire).toContain('\r\n\r\na\r\nkey000\n<0>\r\na\r\nkey001\n<1>\r\n0\r\n\r\n')
})

it('speaks to a Redis client as far as it can', async () => {
  const [a, b] = await startRing(processes, ['a', 'b'])
  const [host, port] = a.address.split(':')
  const client = new Redis({ host, port: Number(port), lazyConnect: true })
  clients.push(client)
  await client.connect()
  expect(await client.set('k', 'v')).toBe('OK')
  expect(await client.get('k')).toBe('v')
  expect((await call(b, 'GET', '/v0/entity?id=k')).body.toString()).toBe('v')
  expect(await client.exists('k', 'nobody')).toBe(1)
  expect(await client.del('k', 'nobody')).toBe(1)
  expect(await client.get('k')).toBeNull()
  await client.set('t', 'v', 'PX', 200)
  await until('the end of its time', async () => (await client.get('t')) === null)
  const many = await Promise.all(Array.from({ length: 200 }, (_, i) => client.set(`m${i}`, `${i}`)))
  expect(new Set(many)).toEqual(new Set(['OK']))
  expect(await client.get('m199')).toBe('199')
  await expect(client.incr('k')).rejects.toThrow('not there on a ring')
  await b.kill()
  await expect(client.set('k', 'v')).rejects.toThrow('NOREPLICAS')
})

it('says how it is in the words that buckets have', async () => {
  const [a, b] = await startRing(processes, ['a', 'b'])
  await call(a, 'PUT', '/v0/entity?id=k', { body: 'v' })
  const health = await call(a, 'GET', '/health')
  expect([health.status, JSON.parse(health.body.toString())]).toMatchObject([
    200,
    { status: 'serving', node: 'a' }
  ])
  const status = JSON.parse((await call(a, 'GET', '/api/cluster')).body.toString()) as object
  expect(status).toMatchObject({
    placement: 'ring',
    balanced: true,
    nodes: [
      { name: 'a', state: 'alive', items: 1 },
      { name: 'b', state: 'alive', items: 1, http: b.http }
    ],
    ring: { stage: 'rest', underReplicated: false }
  })
  expect(await a.ownStatus()).toMatchObject({ node: 'a', buckets: { length: 8 } })
  const metrics = (await call(a, 'GET', '/metrics')).body.toString()
  expect(metrics).toMatch(/^opencluster_nodes\{state="alive"\} 2$/m)
  expect(metrics).toMatch(/^opencluster_items\{role="primary"\} 1$/m)
  expect(metrics).toMatch(/^opencluster_operations_total\{family="put"\} 1$/m)
})
