/** The contract of `/v0/entity` and `/v0/entities`, line by line, on one, two, three and five real nodes. */
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Processes, until, type NodeProcess } from '../integration/process.js'
import { call, configOf, startRing, untilSettled } from './ring-process.js'

/** One that is stopped for a moment is not to be taken for dead. */
const PATIENT = ['--dead-after-ms', '8000']
const processes = new Processes()
afterEach(() => processes.end())

const statusOf = async (node: NodeProcess, method: string, path: string): Promise<number> =>
  (await call(node, method, path, method === 'PUT' ? { body: 'v' } : {})).status

describe('one node', () => {
  it('answers with the codes of the contract', async () => {
    const [a] = await startRing(processes, ['a'])
    const value = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256))
    expect((await call(a, 'GET', '/v0/entity?id=k')).status).toBe(404)
    expect((await call(a, 'PUT', '/v0/entity?id=k', { body: value })).status).toBe(201)
    const read = await call(a, 'GET', '/v0/entity?id=k')
    expect([read.status, read.body.equals(value)]).toEqual([200, true])
    expect((await call(a, 'PUT', '/v0/entity?id=k', { body: '' })).status).toBe(201)
    const empty = await call(a, 'GET', '/v0/entity?id=k')
    expect([empty.status, empty.body.length]).toEqual([200, 0])
    expect(await statusOf(a, 'DELETE', '/v0/entity?id=k')).toBe(202)
    expect(await statusOf(a, 'DELETE', '/v0/entity?id=never')).toBe(202)
    expect(await statusOf(a, 'GET', '/v0/entity?id=k')).toBe(404)
    for (const path of ['/v0/entity?id=k', '/v0/entity?id=k&ack=1&from=1']) {
      expect(await statusOf(a, 'POST', path)).toBe(405)
    }
  })

  it('refuses what is wrong with 400', async () => {
    const [a] = await startRing(processes, ['a'])
    const wrong = [
      '/v0/entity',
      '/v0/entity?id=',
      '/v0/entity?id=k&ack=0&from=1',
      '/v0/entity?id=k&ack=2&from=1',
      '/v0/entity?id=k&ack=1&from=2',
      '/v0/entity?id=k&ack=1',
      '/v0/entity?id=k&from=1',
      '/v0/entity?id=k&ack=x&from=1',
      '/v0/entity?id=k&ack=1&from=1e0',
      '/v0/entity?id=k&id=l',
      '/v0/entity?id=%zz'
    ]
    for (const path of wrong) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        expect([path, method, await statusOf(a, method, path)]).toEqual([path, method, 400])
      }
    }
    expect(await statusOf(a, 'GET', '/abracadabra')).toBe(400)
    expect(await statusOf(a, 'PUT', '/v0/entity?id=k&ttl=0')).toBe(400)
  })

  it('takes any bytes for an id, and forgets what has a time limit', async () => {
    const [a] = await startRing(processes, ['a'])
    for (const id of ['%00%ff%0a', 'a%20b', '%D0%BA%D0%BB%D1%8E%D1%87', 'a%26b%3Dc']) {
      expect(await statusOf(a, 'PUT', `/v0/entity?id=${id}`)).toBe(201)
      expect(await statusOf(a, 'GET', `/v0/entity?id=${id}`)).toBe(200)
    }
    expect(await statusOf(a, 'PUT', '/v0/entity?id=t&ttl=300')).toBe(201)
    expect(await statusOf(a, 'GET', '/v0/entity?id=t')).toBe(200)
    await until(
      'the end of its time',
      async () => (await statusOf(a, 'GET', '/v0/entity?id=t')) === 404
    )
  })

  it('goes on in HTTP/1.1 whatever upgrade is offered', async () => {
    const [a] = await startRing(processes, ['a'])
    const headers = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA'
    }
    expect((await call(a, 'PUT', '/v0/entity?id=k', { body: 'v', headers })).status).toBe(201)
    const { status, body } = await call(a, 'GET', '/v0/entity?id=k', { headers })
    expect([status, body.toString()]).toEqual([200, 'v'])
    for (const [method, wanted] of [
      ['GET', 200],
      ['DELETE', 202]
    ] as const) {
      const empty = { ...headers, 'content-length': '0' }
      const reply = await call(a, method, '/v0/entity?id=k', { headers: empty })
      expect(reply.status).toBe(wanted)
    }
  })

  it('refuses a value beyond the limit with 413', async () => {
    const [a] = await startRing(processes, ['a'])
    const headers = { 'content-length': `${33 * 1024 * 1024}` }
    const reply = await new Promise<string>((resolve) => {
      const [host, port] = a.http.split(':')
      const socket = connect({ host, port: Number(port) }, () => {
        const head = `PUT /v0/entity?id=k HTTP/1.1\r\nhost: ${a.http}\r\n`
        socket.write(`${head}content-length: ${headers['content-length']}\r\n\r\n`)
      })
      socket.once('data', (bytes: Buffer) => {
        socket.destroy()
        resolve(bytes.toString())
      })
    })
    expect(reply).toContain('413')
  })

  it('gives a range with one record a chunk', async () => {
    const [a] = await startRing(processes, ['a'])
    for (const [key, value] of [
      ['a', '1'],
      ['b', ''],
      ['c', '3'],
      ['d', '4']
    ]) {
      await call(a, 'PUT', `/v0/entity?id=${key}`, { body: value })
    }
    await call(a, 'DELETE', '/v0/entity?id=c')
    const [host, port] = a.http.split(':')
    const wire = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect({ host, port: Number(port) }, () => {
        const path = '/v0/entities?start=a&end=e'
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${a.http}\r\nconnection: close\r\n\r\n`)
      })
      socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
      socket.on('close', () => resolve(text))
    })
    expect(wire.slice(wire.indexOf('\r\n\r\n') + 4)).toBe(
      '3\r\na\n1\r\n2\r\nb\n\r\n3\r\nd\n4\r\n0\r\n\r\n'
    )
    const read = async (query: string): Promise<string> =>
      (await call(a, 'GET', `/v0/entities?${query}`)).body.toString()
    expect(await read('start=b&end=d')).toBe('b\n')
    expect(await read('start=d')).toBe('d\n4')
    expect(await read('start=x')).toBe('')
    for (const query of ['', 'end=c', 'start=', 'start=&end=', 'start=a&end=', 'start=b&end=a']) {
      expect(await statusOf(a, 'GET', `/v0/entities?${query}`)).toBe(400)
    }
  })
})

/** Which of these nodes hold a key. */
async function holdersOf(nodes: readonly NodeProcess[], id: string): Promise<number[]> {
  const ranges = await Promise.all(
    nodes.map((node) => call(node, 'GET', `/v0/entities?start=${id}&end=${id}%00`))
  )
  return ranges.flatMap(({ body }, index) => (body.length > 0 ? [index] : []))
}

describe('without ack and from', () => {
  it.each([
    [2, 0],
    [3, 1],
    [4, 1]
  ])('of %i nodes %i may be away', async (size, away) => {
    const names = Array.from({ length: size }, (_, i) => `n${i}`)
    const nodes = await startRing(processes, names, '--copies', '4')
    expect(await statusOf(nodes[0], 'PUT', '/v0/entity?id=k')).toBe(201)
    expect(await holdersOf(nodes, 'k')).toHaveLength(size)
    const down = nodes.slice(size - away - 1)
    for (const node of down.slice(1)) await node.kill()
    await until('answers', async () => (await statusOf(nodes[0], 'PUT', '/v0/entity?id=k')) === 201)
    expect(await statusOf(nodes[0], 'GET', '/v0/entity?id=k')).toBe(200)
    expect(await statusOf(nodes[0], 'DELETE', '/v0/entity?id=other')).toBe(202)
    await down[0].kill()
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const reply = await call(nodes[0], method, '/v0/entity?id=k')
      expect([method, reply.status, reply.reason]).toEqual([method, 504, 'Not Enough Replicas'])
    }
  })
})

describe('two nodes', () => {
  it('refuse with 400 what cannot be', async () => {
    const [a] = await startRing(processes, ['a', 'b'])
    for (const quorum of ['ack=0&from=2', 'ack=3&from=2', 'ack=1&from=3', 'ack=2&from=1']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const status = await statusOf(a, method, `/v0/entity?id=k&${quorum}`)
        expect([quorum, method, status]).toEqual([quorum, method, 400])
      }
    }
  })

  it('see a write of 2/2 by 1/2 with one of them down, and 504 where two are wanted', async () => {
    const [a, b] = await startRing(processes, ['a', 'b'])
    expect(await statusOf(a, 'PUT', '/v0/entity?id=k&ack=2&from=2')).toBe(201)
    expect(await statusOf(b, 'DELETE', '/v0/entity?id=gone&ack=2&from=2')).toBe(202)
    await b.kill()
    expect(await statusOf(a, 'GET', '/v0/entity?id=k&ack=1&from=2')).toBe(200)
    expect(await statusOf(a, 'GET', '/v0/entity?id=gone&ack=1&from=2')).toBe(404)
    const missing = await call(a, 'GET', '/v0/entity?id=k&ack=2&from=2')
    expect([missing.status, missing.reason]).toEqual([504, 'Not Enough Replicas'])
    expect(await statusOf(a, 'PUT', '/v0/entity?id=k&ack=2&from=2')).toBe(504)
    expect(await statusOf(a, 'DELETE', '/v0/entity?id=k2&ack=2&from=2')).toBe(504)
  })

  it('give the newest answer after one was away, and fill it before it serves', async () => {
    const [a, b] = await startRing(processes, ['a', 'b'])
    await call(a, 'PUT', '/v0/entity?id=k&ack=2&from=2', { body: 'old' })
    await b.kill()
    await until('a write to one', async () => {
      const { status } = await call(a, 'PUT', '/v0/entity?id=k&ack=1&from=2', { body: 'new' })
      return status === 201
    })
    const again = await processes.start('b', '--placement', 'ring', '--join', a.address)
    await untilSettled([a, again])
    for (const node of [a, again]) {
      for (const quorum of ['ack=2&from=2', 'ack=1&from=2', 'ack=1&from=1']) {
        const { status, body } = await call(node, 'GET', `/v0/entity?id=k&${quorum}`)
        expect([status, body.toString()]).toEqual([200, 'new'])
      }
    }
  })
})

describe('three nodes', () => {
  it('take the same replicas for a key every time, the few among the many', async () => {
    const nodes = await startRing(processes, ['a', 'b', 'c'], '--copies', '3')
    for (let i = 0; i < 10; i++) {
      const sets: number[][] = []
      for (const from of [1, 2, 3]) {
        const path = `/v0/entity?id=key${i}&ack=${from}&from=${from}`
        expect(await statusOf(nodes[i % 3], 'PUT', path)).toBe(201)
        sets.push(await holdersOf(nodes, `key${i}`))
        for (const node of nodes) {
          expect(await statusOf(node, 'GET', `/v0/entity?id=key${i}&ack=1&from=${from}`)).toBe(200)
        }
      }
      expect(sets.map(({ length }) => length)).toEqual([1, 2, 3])
      expect(sets[1]).toEqual(expect.arrayContaining(sets[0]))
      expect(sets[2]).toEqual(expect.arrayContaining(sets[1]))
    }
  })

  it('give the newest of what they hold, however one of them was away', async () => {
    const [a, b, c] = await startRing(processes, ['a', 'b', 'c'], '--copies', '3')
    expect(await statusOf(a, 'PUT', '/v0/entity?id=k&ack=3&from=3')).toBe(201)
    await c.kill()
    await until('a deletion by two', async () => {
      return (await statusOf(a, 'DELETE', '/v0/entity?id=k&ack=2&from=3')) === 202
    })
    const again = await processes.start('c', '--placement', 'ring', '--join', a.address)
    await untilSettled([a, b, again])
    for (const quorum of ['ack=3&from=3', 'ack=2&from=3', 'ack=1&from=3']) {
      expect(await statusOf(again, 'GET', `/v0/entity?id=k&${quorum}`)).toBe(404)
    }
    expect(await statusOf(again, 'PUT', '/v0/entity?id=k&ack=3&from=3')).toBe(201)
    expect(await statusOf(b, 'GET', '/v0/entity?id=k&ack=1&from=3')).toBe(200)
  })

  it('see 2/3 by 2/3 with any one of them down, after writes and deletions', async () => {
    const [a, b, c] = await startRing(processes, ['a', 'b', 'c'], '--copies', '3')
    for (let i = 0; i < 30; i++) {
      expect(await statusOf(a, 'PUT', `/v0/entity?id=k${i}&ack=2&from=3`)).toBe(201)
      if (i % 3 === 0) expect(await statusOf(b, 'DELETE', `/v0/entity?id=k${i}`)).toBe(202)
    }
    await c.kill()
    for (let i = 0; i < 30; i++) {
      const wanted = i % 3 === 0 ? 404 : 200
      expect(await statusOf(b, 'GET', `/v0/entity?id=k${i}&ack=2&from=3`)).toBe(wanted)
    }
    expect(await statusOf(b, 'GET', '/v0/entity?id=k1&ack=3&from=3')).toBe(504)
    expect(await statusOf(b, 'PUT', '/v0/entity?id=k1&ack=2&from=3')).toBe(201)
  })

  it('are asked at once, and answer as soon as `ack` of them have, whatever the last one does', async () => {
    const [a, b, c] = await startRing(processes, ['a', 'b', 'c'], '--copies', '3', ...PATIENT)
    expect(await statusOf(b, 'PUT', '/v0/entity?id=k&ack=3&from=3')).toBe(201)
    c.signal('SIGSTOP')
    try {
      for (const [method, wanted] of [
        ['PUT', 201],
        ['GET', 200],
        ['DELETE', 202],
        ['GET', 404]
      ] as const) {
        const startedMs = performance.now()
        const status = await statusOf(a, method, '/v0/entity?id=k&ack=2&from=3')
        expect([method, status]).toEqual([method, wanted])
        // Two seconds is what a request waits for those who do not answer.
        expect(performance.now() - startedMs).toBeLessThan(1000)
      }
      expect(await statusOf(a, 'GET', '/v0/entity?id=k&ack=3&from=3')).toBe(504)
    } finally {
      c.signal('SIGCONT')
    }
    await until('what it missed', async () => {
      const range = await call(c, 'GET', '/v0/entities?start=k')
      return range.status === 200 && range.body.length === 0
    })
  })

  it('hold no more copies than `from`, and the smaller set within the larger', async () => {
    const nodes = await startRing(processes, ['a', 'b', 'c'], '--copies', '3')
    await call(nodes[0], 'PUT', '/v0/entity?id=one&ack=1&from=1', { body: '1' })
    await call(nodes[0], 'PUT', '/v0/entity?id=two&ack=2&from=2', { body: '2' })
    const holders = async (key: string): Promise<number> => {
      const ranges = await Promise.all(
        nodes.map((node) => call(node, 'GET', `/v0/entities?start=${key}&end=${key}~`))
      )
      return ranges.filter(({ body }) => body.length > 0).length
    }
    expect([await holders('one'), await holders('two')]).toEqual([1, 2])
    const merged = await call(nodes[2], 'GET', '/v0/entities?start=a&scope=cluster')
    expect(merged.body.toString()).toBe('one\n1two\n2')
  })
})

describe('five nodes', () => {
  it('answer by majority with two of them down, and are whole again when they come back', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const nodes = await startRing(processes, names)
    const [a, b, c, d, e] = nodes
    for (let i = 0; i < 50; i++)
      expect(await statusOf(b, 'PUT', `/v0/entity?id=k${i}&ack=3&from=5`)).toBe(201)
    await Promise.all([d.kill(), e.kill()])
    for (let i = 0; i < 50; i++) {
      expect(await statusOf(c, 'GET', `/v0/entity?id=k${i}&ack=3&from=5`)).toBe(200)
      expect(await statusOf(a, 'PUT', `/v0/entity?id=n${i}&ack=3&from=5`)).toBe(201)
    }
    expect(await statusOf(a, 'PUT', '/v0/entity?id=n0&ack=4&from=5')).toBe(504)
    const back = await Promise.all(
      ['d', 'e'].map((name) => processes.start(name, '--placement', 'ring', '--join', a.address))
    )
    await untilSettled([a, b, c, ...back])
    await until('copies on all nodes', async () => {
      const { nodes: seen } = await configOf(a)
      return seen.every(({ records }) => records === 100)
    })
    for (let i = 0; i < 50; i++) {
      expect(await statusOf(back[0], 'GET', `/v0/entity?id=n${i}&ack=5&from=5`)).toBe(200)
    }
  })
})
