/**
 * Whatever comes over a socket is answered with what it asked for, or with 400 or 413 and a reason; never with 500, and the
 * node goes on. In both placements.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../src/core/random.js'
import { Processes, type NodeProcess } from '../integration/process.js'
import { call } from './ring-process.js'
import { sendRaw, statusOf } from './raw.js'

const RUNS = 400
const AT_ONCE = 20
const processes = new Processes()
afterAll(() => processes.end())

/** 403: spoiled, the host is a name that is not this machine's. */
const SEEN = [200, 201, 202, 403, 404, 405, 400, 413]

/** Requests that are wrong in one place each, and what is to be answered. */
const WRONG: readonly (readonly [string, string, number])[] = [
  ['a % without hex', 'GET /v0/entity?id=%zz HTTP/1.1', 400],
  ['half a %', 'GET /v0/entity?id=% HTTP/1.1', 400],
  ['no id', 'GET /v0/entity HTTP/1.1', 400],
  ['an empty id', 'DELETE /v0/entity?id= HTTP/1.1', 400],
  ['two ids', 'GET /v0/entity?id=a&id=b HTTP/1.1', 400],
  ['an unknown parameter', 'GET /v0/entity?id=a&x=1 HTTP/1.1', 400],
  ['ack of 0', 'GET /v0/entity?id=a&ack=0&from=1 HTTP/1.1', 400],
  ['ack alone', 'GET /v0/entity?id=a&ack=1 HTTP/1.1', 400],
  ['a negative from', 'GET /v0/entity?id=a&ack=1&from=-1 HTTP/1.1', 400],
  ['a broken number', 'GET /v0/entity?id=a&ack=1.0&from=1 HTTP/1.1', 400],
  ['a huge number', `GET /v0/entity?id=a&ack=1&from=${'9'.repeat(40)} HTTP/1.1`, 400],
  ['a ttl of a GET', 'GET /v0/entity?id=a&ttl=1 HTTP/1.1', 400],
  ['a ttl of 0', 'PUT /v0/entity?id=a&ttl=0 HTTP/1.1\r\ncontent-length: 0', 400],
  ['an id of 9000 bytes', `GET /v0/entity?id=${'a'.repeat(9000)} HTTP/1.1`, 400],
  ['an id of 20000 bytes', `GET /v0/entity?id=${'a'.repeat(20_000)} HTTP/1.1`, 413],
  ['an unknown path', 'GET /abracadabra HTTP/1.1', 400],
  ['an unknown path below', 'GET /v0/entity/x?id=a HTTP/1.1', 400],
  ['a path that leads up', 'GET /../../etc/passwd HTTP/1.1', 400],
  ['no path', 'GET  HTTP/1.1', 400],
  ['HTTP/9', 'GET /v0/entity?id=a HTTP/9.9', 400],
  ['no method', 'FETCH /v0/entity?id=a HTTP/1.1', 400],
  ['a known method that is none of it', 'POST /v0/entity?id=a HTTP/1.1\r\ncontent-length: 0', 405],
  ['a header without colon', 'GET /v0/entity?id=a HTTP/1.1\r\nnonsense', 400],
  ['a blank in a header name', 'GET /v0/entity?id=a HTTP/1.1\r\na b: c', 400],
  ['a zero in a header', 'GET /v0/entity?id=a HTTP/1.1\r\na: \0', 400],
  ['too many headers', `GET /v0/entity?id=a HTTP/1.1\r\n${'a: b\r\n'.repeat(4000)}a: b`, 400],
  ['a length that is no number', 'PUT /v0/entity?id=a HTTP/1.1\r\ncontent-length: x', 400],
  ['two lengths', 'PUT /v0/entity?id=a HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2', 400],
  ['a length of 33 MiB', `PUT /v0/entity?id=a HTTP/1.1\r\ncontent-length: ${33 << 20}`, 413],
  [
    'a length beyond all numbers',
    `PUT /v0/entity?id=a HTTP/1.1\r\ncontent-length: 1${'0'.repeat(30)}`,
    400
  ],
  [
    'a length and chunks',
    'PUT /v0/entity?id=a HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked',
    400
  ],
  ['a coding nobody knows', 'PUT /v0/entity?id=a HTTP/1.1\r\ntransfer-encoding: gzip', 400],
  [
    'a chunk without size',
    'PUT /v0/entity?id=a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n0',
    400
  ],
  [
    'a chunk longer than it says',
    'PUT /v0/entity?id=a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0',
    400
  ],
  [
    'a chunk of a size beyond all numbers',
    `PUT /v0/entity?id=a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n${'f'.repeat(40)}\r\n`,
    400
  ],
  [
    'an expectation nobody has',
    'PUT /v0/entity?id=a HTTP/1.1\r\nexpect: cake\r\ncontent-length: 0',
    400
  ],
  ['no start', 'GET /v0/entities HTTP/1.1', 400],
  ['an empty start', 'GET /v0/entities?start= HTTP/1.1', 400],
  ['end without start', 'GET /v0/entities?end=a HTTP/1.1', 400],
  ['an empty end', 'GET /v0/entities?start=a&end= HTTP/1.1', 400],
  ['an end before the start', 'GET /v0/entities?start=b&end=a HTTP/1.1', 400],
  ['another scope', 'GET /v0/entities?start=a&scope=world HTTP/1.1', 400],
  ['two starts', 'GET /v0/entities?start=a&start=b HTTP/1.1', 400]
]

const POSITIONS: readonly string[] = [
  '',
  '{}',
  '[]',
  '[1.5]',
  '["1"]',
  '[1,1]',
  '[2147483648]',
  '[-2147483649]',
  '[null]',
  '[[1]]',
  'nonsense',
  '\u0000',
  `[${Array.from({ length: 1025 }, (_, i) => i).join()}]`
]

describe.each(['ring', 'buckets'])('placement %s', (placement) => {
  let node: NodeProcess

  beforeAll(async () => {
    node = await processes.start(`bad-${placement}`, '--placement', placement)
  })

  it.each(WRONG)('%s', async (_what, request, status) => {
    const separator = request.includes('\r\n\r\n') ? '' : `\r\nhost: ${node.http}`
    const answer = await sendRaw(node.http, withHost(request, node.http, separator))
    expect([request.slice(0, 80), statusOf(answer)]).toEqual([request.slice(0, 80), status])
    expect(answer).toMatch(/"message":"[^"]+"/)
  })

  it('answers noise, and requests with noise in them', async () => {
    const random = new Random(placement === 'ring' ? 1 : 2)
    const counts = new Map<number, number>()
    const ask = async (bytes: Buffer): Promise<void> => {
      // Something that may still become a request is not answered.
      const answer = await sendRaw(node.http, bytes, 1000)
      const status = statusOf(answer)
      counts.set(status, (counts.get(status) ?? 0) + 1)
      const shown = bytes.toString('latin1').slice(0, 200)
      if (answer !== '')
        expect([shown, SEEN.includes(status), status]).toEqual([shown, true, status])
      if (status === 400 || status === 413) expect(answer).toMatch(/"message":"/)
    }
    for (let run = 0; run < RUNS; run += AT_ONCE) {
      const requests = Array.from({ length: AT_ONCE }, () => drawRequest(random, node.http))
      await Promise.all(requests.map(ask))
    }
    expect(counts.get(400) ?? 0).toBeGreaterThan(RUNS / 10)
    expect((await call(node, 'PUT', '/v0/entity?id=after', { body: 'all' })).status).toBe(201)
    expect((await call(node, 'GET', '/v0/entity?id=after')).body.toString()).toBe('all')
  })
})

it('refuses positions that are none', async () => {
  const node = await processes.start('bad-positions', '--placement', 'ring')
  for (const body of POSITIONS) {
    const { status, body: reason } = await call(node, 'PUT', '/v0/positions', { body })
    expect([body.slice(0, 40), status]).toEqual([body.slice(0, 40), 400])
    expect(reason.toString()).toContain('signed 32-bit')
  }
  expect((await call(node, 'GET', '/v0/positions')).status).toBe(405)
})

function withHost(request: string, http: string, separator: string): string {
  if (separator !== '') return `${request}${separator}\r\nconnection: close\r\n\r\n`
  const at = request.indexOf('\r\n')
  return `${request.slice(0, at)}\r\nhost: ${http}${request.slice(at)}\r\n\r\n`
}

/** A right request, of which some bytes are others than they should be. */
function drawRequest(random: Random, http: string): Buffer {
  const method = random.pick(['GET', 'PUT', 'DELETE', 'POST', 'PATCH', 'OPTIONS', 'BREW'])
  const path = random.pick([
    '/v0/entity',
    '/v0/entities',
    '/v0/cluster-config',
    '/v0/positions',
    '/'
  ])
  const names = ['id', 'ack', 'from', 'ttl', 'start', 'end', 'scope', 'x']
  const values = ['a', '', '0', '1', '2', '%41', '%', '%ff%00', '-1', 'cluster', '1e3', '%E0%A4']
  const query = Array.from(
    { length: random.between(0, 4) },
    () => `${random.pick(names)}=${random.pick(values)}`
  ).join('&')
  const headers = [
    `host: ${http}`,
    'connection: close',
    random.pick(['content-length: 3', 'transfer-encoding: chunked', 'content-type: ;', 'a: b']),
    random.pick(['upgrade: h2c', 'expect: 100-continue', 'content-type: application/json', 'c: d'])
  ]
  const body = random.pick(['abc', '3\r\nabc\r\n0\r\n\r\n', '{"a":', ''])
  const text = `${method} ${path}?${query} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`
  const bytes = Buffer.from(text, 'latin1')
  for (let spoiled = random.between(0, 4); spoiled > 0; spoiled--) {
    bytes[Math.floor(random.fraction() * bytes.length)] = random.between(0, 255)
  }
  return random.chance(0.2) ? bytes.subarray(0, random.between(1, bytes.length)) : bytes
}
