/** The other doors: ranges where the placement is buckets, and what a ring says of itself and to Redis clients. */
import { Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { Processes, until, type NodeProcess } from '../integration/process.js'
import { sendRaw } from './raw.js'
import { call, startRing, untilSettled } from './ring-process.js'

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

it('keeps the contract over buckets, with as many copies as they have', async () => {
  const nodes = await processes.cluster(['a', 'b', 'c'])
  const [a, b, c] = nodes
  const ask = async (node: NodeProcess, method: string, query: string): Promise<number> =>
    (await call(node, method, `/v0/entity?${query}`, method === 'PUT' ? { body: 'v' } : {})).status
  for (const quorum of ['', '&ack=1&from=1', '&ack=1&from=2', '&ack=2&from=2']) {
    const id = `id=k${quorum}`
    expect([quorum, await ask(a, 'GET', id)]).toEqual([quorum, 404])
    expect([quorum, await ask(b, 'PUT', id)]).toEqual([quorum, 201])
    for (const node of nodes) expect([quorum, await ask(node, 'GET', id)]).toEqual([quorum, 200])
    expect([quorum, await ask(c, 'DELETE', id)]).toEqual([quorum, 202])
    expect([quorum, await ask(a, 'DELETE', id)]).toEqual([quorum, 202])
    expect([quorum, await ask(b, 'GET', id)]).toEqual([quorum, 404])
    expect([quorum, await ask(b, 'POST', id)]).toEqual([quorum, 405])
  }
  for (const quorum of ['ack=1&from=3', 'ack=3&from=3', 'ack=0&from=2', 'ack=2&from=1']) {
    expect([quorum, await ask(a, 'PUT', `id=k&${quorum}`)]).toEqual([quorum, 400])
  }
  expect(await ask(a, 'PUT', 'id=t&ttl=300')).toBe(201)
  await until('the end of its time', async () => (await ask(c, 'GET', 'id=t')) === 404)
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

it('lets a node go when the page asks with its token, and tells what every node did', async () => {
  const [a, b] = await startRing(processes, ['a', 'b', 'c'])
  const act = async (path: string, headers: Record<string, string>): Promise<number> =>
    (await call(a, 'POST', path, { headers })).status
  const leave = '/api/nodes/c/leave'
  expect(await act(leave, {})).toBe(403)
  expect(await act(leave, { 'x-opencluster-token': 'guessed' })).toBe(403)
  const session = await call(a, 'GET', '/api/session')
  const { token } = JSON.parse(session.body.toString()) as { token: string }
  const headers = { 'x-opencluster-token': token }
  expect(await act(leave, { ...headers, origin: 'http://elsewhere.example' })).toBe(403)
  expect(await act('/api/nodes/nobody/leave', headers)).toBe(404)
  expect(await act('/api/nodes/b/forget', headers)).toBe(400)
  for (let key = 0; key < 50; key++) await call(b, 'PUT', `/v0/entity?id=${key}`, { body: 'v' })
  const picture = await readPicture(a)
  expect(Object.keys(picture.samples).sort()).toEqual(['a', 'b', 'c'])
  const done = picture.samples['b'].reduce((sum, { operations }) => sum + operations, 0)
  expect(done).toBeGreaterThan(40)
  expect(Math.max(...picture.samples['b'].map(({ p99 }) => p99))).toBeGreaterThan(0)
  const metrics = (await call(b, 'GET', '/metrics')).body.toString()
  expect(metrics).toMatch(/^opencluster_request_duration_seconds_count [1-9]/m)
  expect(await act(leave, headers)).toBe(202)
  await untilSettled([a, b])
  const { entries } = await readPicture(a)
  expect(entries.map(({ kind, about }) => `${about} ${kind}`)).toContain('c left')
})

interface Picture {
  readonly samples: Record<string, { operations: number; p99: number }[]>
  readonly entries: { kind: string; about: string }[]
}

/** What the page hears of `/api/live` in its first seconds. */
async function readPicture({ http }: NodeProcess): Promise<Picture> {
  const picture: Picture = { samples: {}, entries: [] }
  const abort = new AbortController()
  const { body } = await fetch(`http://${http}/api/live`, { signal: abort.signal })
  let text = ''
  const until = performance.now() + 3500
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(bytes).toString()
    if (performance.now() > until) break
  }
  abort.abort()
  for (const [, kind, data] of text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)) {
    if (kind === 'entries') picture.entries.push(...(JSON.parse(data) as Picture['entries']))
    if (kind !== 'samples') continue
    for (const [name, list] of Object.entries(JSON.parse(data) as Picture['samples'])) {
      picture.samples[name] = [...(picture.samples[name] ?? []), ...list]
    }
  }
  return picture
}
