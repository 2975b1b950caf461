import fc from 'fast-check'
import { request as httpRequest } from 'node:http'
import { expect, it } from 'vitest'
import { compareBytes } from '../../core/bytes.js'
import { Log } from '../../runtime/log.js'
import { addEntities } from './entities.js'
import { addEntity, VALUE_BYTES_MAX } from './entity.js'
import type { Entity, EntityStore, Quorum } from './entity-store.js'
import { parseQuery, QueryError } from './query.js'
import { mergeNewest } from './ring-store.js'
import type { RecordForm } from '../../node/ring/records.js'
import { createApp } from './server.js'

/** A store of three nodes in a Map: what the routes make of a request is all that is looked at. */
class MapStore implements EntityStore {
  readonly fromMax = 3
  readonly values = new Map<string, Uint8Array>()
  readonly seen: (Quorum | undefined)[] = []
  ttlMs: number | undefined

  get(key: Uint8Array, quorum: Quorum | undefined): ReturnType<EntityStore['get']> {
    this.seen.push(quorum)
    const value = this.values.get(name(key))
    return Promise.resolve(value === undefined ? { status: 404 } : { status: 200, value })
  }

  put(
    key: Uint8Array,
    value: Uint8Array,
    options: { quorum: Quorum | undefined; ttlMs: number | undefined }
  ): ReturnType<EntityStore['put']> {
    this.seen.push(options.quorum)
    this.ttlMs = options.ttlMs
    this.values.set(name(key), value)
    return Promise.resolve({ status: 201 })
  }

  delete(key: Uint8Array, quorum: Quorum | undefined): ReturnType<EntityStore['delete']> {
    this.seen.push(quorum)
    this.values.delete(name(key))
    return Promise.resolve({ status: 202 })
  }

  readonly scan = async function* (this: MapStore): AsyncGenerator<Entity> {
    await Promise.resolve()
    for (const [key, value] of [...this.values].sort()) {
      yield { key: Buffer.from(key, 'latin1'), value }
    }
  }
}

const name = (key: Uint8Array): string => Buffer.from(key).toString('latin1')

function createDoor(store: EntityStore): ReturnType<typeof createApp> {
  const log = new Log({ level: 'silent', format: 'json', write: () => undefined })
  const app = createApp({ log }, 'localhost')
  app.register((scope, _options, done) => {
    addEntity(scope, store)
    addEntities(scope, store)
    done()
  })
  return app
}

const METHODS = ['GET', 'PUT', 'DELETE', 'POST', 'PATCH', 'OPTIONS', 'HEAD'] as const

it('hands on what was asked for', async () => {
  const store = new MapStore()
  const app = createDoor(store)
  const url = '/v0/entity?id=a%ff%00b&ack=2&from=3'
  const put = await app.inject({
    method: 'PUT',
    url: `${url}&ttl=5`,
    payload: Buffer.from([0, 255])
  })
  expect([put.statusCode, store.seen.pop(), store.ttlMs]).toEqual([201, { ack: 2, from: 3 }, 5])
  const got = await app.inject({ method: 'GET', url })
  expect([got.statusCode, [...got.rawPayload]]).toEqual([200, [0, 255]])
  expect([...store.values.keys()]).toEqual(['a\u00ff\u0000b'])
  const json = { 'content-type': 'application/json' }
  const odd = await app.inject({ method: 'PUT', url, headers: json, payload: 'no json at all' })
  expect(odd.statusCode).toBe(201)
  expect((await app.inject({ method: 'DELETE', url: '/v0/entity?id=a' })).statusCode).toBe(202)
  expect(store.seen.pop()).toBeUndefined()
})

it('never answers what is wrong with anything but a reason', async () => {
  const app = createDoor(new MapStore())
  const word = fc.oneof(
    fc.constantFrom('id', 'ack', 'from', 'ttl', 'start', 'end', 'scope', ''),
    fc.string({ maxLength: 4 })
  )
  const value = fc.oneof(
    fc.constantFrom(
      '1',
      '0',
      '2',
      '3',
      '4',
      '-1',
      '1e1',
      '%zz',
      '%',
      '%ff',
      '',
      '99999999999999999'
    ),
    fc.string({ unit: 'binary', maxLength: 6 }).map(encodeURIComponentSafely),
    fc.stringMatching(/^[!-~]{0,8}$/)
  )
  const request = fc.record({
    method: fc.constantFrom(...METHODS),
    path: fc.constantFrom('/v0/entity', '/v0/entities', '/v0/entity/', '/v0', '/x'),
    query: fc.array(fc.tuple(word, value), { maxLength: 4 }),
    payload: fc.option(fc.uint8Array({ maxLength: 20 }), { nil: undefined }),
    type: fc.constantFrom(
      undefined,
      'application/json',
      'text/plain',
      'x',
      ';;',
      'multipart/form-data'
    )
  })
  const allowed = [200, 201, 202, 400, 404, 405, 413]
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, payload, type }) => {
      const text = query.map(([key, of]) => `${encodeURIComponentSafely(key)}=${of}`).join('&')
      const reply = await app.inject({
        method,
        url: `${path}?${text.replaceAll('#', '')}`,
        ...(type === undefined ? {} : { headers: { 'content-type': type } }),
        ...(payload === undefined ? {} : { payload: Buffer.from(payload) })
      })
      expect(allowed).toContain(reply.statusCode)
      if (reply.statusCode >= 400 && reply.statusCode !== 404 && method !== 'HEAD') {
        expect(reply.json()).toMatchObject({ message: expect.any(String) as string })
      }
    }),
    { numRuns: 1000 }
  )
})

function encodeURIComponentSafely(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

it('refuses a value that is too large, and takes one that just fits', async () => {
  const store = new MapStore()
  const app = createDoor(store)
  const put = async (bytes: number): Promise<number> => {
    const payload = Buffer.alloc(bytes)
    return (await app.inject({ method: 'PUT', url: '/v0/entity?id=k', payload })).statusCode
  }
  expect(await put(VALUE_BYTES_MAX + 1)).toBe(413)
  expect(await put(VALUE_BYTES_MAX)).toBe(201)
})

it('streams a range of any length without holding it', async () => {
  const RECORDS = 20_000
  const VALUE = Buffer.alloc(2000, 'v')
  let ahead = 0
  let taken = 0
  let most = 0
  const store = new MapStore()
  const endless: EntityStore = {
    fromMax: 1,
    get: (key, quorum) => store.get(key, quorum),
    put: (key, value, options) => store.put(key, value, options),
    delete: (key, quorum) => store.delete(key, quorum),
    scan: async function* () {
      await Promise.resolve()
      for (let i = 0; i < RECORDS; i++) {
        ahead++
        most = Math.max(most, ahead * VALUE.length - taken)
        yield { key: Buffer.from(`key${i}`), value: VALUE }
      }
    }
  }
  const app = createDoor(endless)
  await app.listen({ host: 'localhost', port: 0 })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await new Promise<void>((resolve, reject) => {
    httpRequest({ host: 'localhost', port, path: '/v0/entities?start=a' }, (reply) => {
      reply.on('data', (bytes: Buffer) => (taken += bytes.length))
      reply.on('end', resolve)
      reply.on('error', reject)
    }).end()
  })
  await app.close()
  expect(taken).toBeGreaterThan(RECORDS * VALUE.length)
  expect(most).toBeLessThan(8 * 1024 * 1024)
})

it('reads a query by bytes', () => {
  const read = (url: string): Record<string, string> =>
    Object.fromEntries([...parseQuery(url)].map(([key, bytes]) => [key, name(bytes)]))
  expect(read('/x')).toEqual({})
  expect(read('/x?a=1&b=%20+&c&=d')).toEqual({ a: '1', b: '  ', c: '', '': 'd' })
  for (const wrong of ['/x?a=%', '/x?a=%1', '/x?a=%g0', '/x?a=1&a=2']) {
    expect(() => parseQuery(wrong)).toThrow(QueryError)
  }
})

it('merges the records of nodes: each key once, in order, in its newest form', async () => {
  const record = fc.record({ key: fc.nat(30), version: fc.integer({ min: 1, max: 1000 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(record, { maxLength: 8 }), { maxLength: 4 }),
      async (nodes) => {
        const newest = new Map<number, number>()
        const sources = nodes.map((records) => {
          const own = new Map(records.map(({ key, version }) => [key, version]))
          for (const [key, version] of own) newest.set(key, Math.max(version, newest.get(key) ?? 0))
          return iterate([...own].sort(([a], [b]) => a - b))
        })
        const merged: [number, number][] = []
        for await (const { key, version } of mergeNewest(sources)) merged.push([key[0], version])
        expect(merged).toEqual([...newest].sort(([a], [b]) => a - b))
        expect(compareBytes(Uint8Array.of(1), Uint8Array.of(2))).toBeLessThan(0)
      }
    )
  )
})

async function* iterate(records: readonly [number, number][]): AsyncGenerator<RecordForm> {
  await Promise.resolve()
  for (const [key, version] of records) {
    yield { key: Uint8Array.of(key), version, from: 1, expiry: 0, value: undefined }
  }
}
