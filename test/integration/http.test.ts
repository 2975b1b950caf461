// The HTTP door of real processes: health, cluster, events, limits and what strangers send.
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/config/address.js'
import type { Status } from '../../src/index.js'
import { exchange, Processes, until, type NodeProcess } from './process.js'

const processes = new Processes()
afterEach(() => processes.end())

const fetchJson = async (url: string): Promise<unknown> => (await fetch(url)).json()

/** `fetch` sets the host itself. */
function fetchAs(host: string, node: NodeProcess): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const target = { ...parseAddress(node.http)!, path: '/health', headers: { host } }
    httpRequest(target, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

describe('the HTTP door', () => {
  test('says that it serves, and what the cluster looks like', async () => {
    const [a, b] = await processes.cluster(['a', 'b'])
    expect(await fetchJson(`http://${a.http}/health`)).toEqual({ status: 'serving', node: 'a' })
    const status = (await fetchJson(`http://${b.http}/api/cluster`)) as Status
    expect(status.nodes.map(({ name, http }) => [name, http])).toEqual([
      ['a', a.http],
      ['b', b.http]
    ])
    expect(status.nodes.every(({ items }) => items === 0)).toBe(true)
    expect(status.buckets).toHaveLength(256)
  })

  test('is unhealthy while it has nobody to join', async () => {
    const lonely = processes.launch(
      'lonely',
      '--join',
      '127.0.0.1:1',
      '--http-port',
      '0',
      '--log-format',
      'json'
    )
    let seen: Response | undefined
    await until('an HTTP door', async () => {
      const port = /"http":"(127[^"]+)"/.exec(lonely.stderr)?.[1]
      if (port === undefined) return false
      seen = await fetch(`http://${port}/health`)
      return true
    })
    expect(seen?.status).toBe(503)
    expect(await seen?.json()).toMatchObject({ status: 'joining', code: 'OC_NOT_SERVING' })
  })

  test('tells of joins and deaths as they happen', async () => {
    const a = await processes.start('a')
    const response = await fetch(`http://${a.http}/api/events`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    let text = ''
    const reading = (async () => {
      for await (const piece of response.body!) text += Buffer.from(piece).toString()
    })().catch(() => undefined)
    const b = await processes.start('b', '--join', a.address)
    await until('the join', () => /event: joined\ndata: .*"node":"b"/.test(text))
    await until('a row', () => /event: row\ndata: /.test(text))
    await b.kill()
    await until('the death', () => /event: died\ndata: .*"node":"b"/.test(text))
    await a.kill()
    await reading
  })

  test('refuses politely', async () => {
    const a = await processes.start('a')
    const unknown = await fetch(`http://${a.http}/abracadabra`)
    expect(unknown.status).toBe(400)
    expect(await unknown.json()).toMatchObject({ code: 'OC_BAD_REQUEST' })
    expect((await fetch(`http://${a.http}/api/nothing`)).status).toBe(404)
    const rubbish = await exchange(a.http, 'HELO there\r\n\r\n')
    expect(rubbish).toMatch(/^HTTP\/1\.1 400 .*OC_BAD_REQUEST/s)
    const long = await exchange(a.http, `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)
    expect(long).toMatch(/^HTTP\/1\.1 413 .*OC_TOO_LARGE/s)
    expect(await fetchAs('evil.example', a)).toBe(403)
    expect(await fetchAs('localhost:1234', a)).toBe(200)
  })

  test('goes on in HTTP/1.1 with a client that asks for more', async () => {
    const a = await processes.start('a')
    const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n'
    const socket = connect(parseAddress(a.http)!)
    for (let asked = 0; asked < 3; asked++) {
      socket.write(`GET /health HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK/)
    }
    socket.destroy()
  })

  test('is not there when it is off, and says when its port is taken', async () => {
    const a = await processes.start('a', '--http-port', 'off')
    expect(a.http).toBe('off')
    const { port } = parseAddress(a.address)!
    const taken = processes.launch('b', '--http-port', String(port))
    expect((await taken.ended).code).toBe(1)
    expect(taken.stderr).toContain(`--http-port ${port} is taken by another process`)
  })

  test('lets only those act who may, and only pages of the cluster read its token', async () => {
    const [a, b] = await processes.cluster(['a', 'b'])
    const url = `http://${a.http}`
    const forget = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/api/nodes/b/forget`, { method: 'POST', headers })
    expect((await forget({})).status).toBe(403)
    expect((await forget({ 'x-opencluster-token': 'guess' })).status).toBe(403)
    const foreign = await fetch(`${url}/api/session`, {
      headers: { origin: 'http://evil.example' }
    })
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull()
    expect(await foreign.json()).toMatchObject({ token: null })
    const session = async (origin: string): Promise<[string | null, string | null]> => {
      const answer = await fetch(`${url}/api/session`, { headers: { origin } })
      const { token } = (await answer.json()) as { token: string | null }
      return [answer.headers.get('access-control-allow-origin'), token]
    }
    const page = `http://${b.http}`
    let token: string | null = null
    // The two doors hear of each other a moment after the nodes do.
    await until('a token', async () => (token = (await session(page))[1]) !== null)
    expect((await session(page))[0]).toBe(page)
    const headers = { 'x-opencluster-token': token! }
    expect((await forget({ ...headers, origin: 'http://evil.example' })).status).toBe(403)
    const alive = await forget(headers)
    expect(alive.status).toBe(400)
    expect(await alive.json()).toMatchObject({ message: 'b is alive; let it leave' })
    await b.kill()
    await until('the death', async () => (await forget(headers)).status === 200)
    expect((await a.status()).nodes.find(({ name }) => name === 'b')?.state).toBe('left')
  })

  test('looks a key up for those who may', async () => {
    const a = await processes.start('a')
    const connection = await processes.connect(a)
    await connection.call('SET', 'greeting', 'hello', 'EX', '100')
    const { token } = (await fetchJson(`http://${a.http}/api/session`)) as { token: string }
    const look = async (body: string): Promise<Response> =>
      fetch(`http://${a.http}/api/key`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-opencluster-token': token },
        body
      })
    const found = await look('{"key":"greeting"}')
    expect(await found.json()).toMatchObject({ primary: 'a', type: 'string', preview: ['hello'] })
    for (const bad of ['{}', '{"key":7}', '[]', 'null', '{"key":""}', '{', '']) {
      expect((await look(bad)).status, bad).toBe(400)
    }
    expect((await look(`{"key":"${'x'.repeat(2_000_000)}"}`)).status).toBe(413)
  })

  test('gives the dashboard out with a policy that allows nothing else', async () => {
    const a = await processes.start('a')
    const page = await fetch(`http://${a.http}/`, { headers: { 'accept-encoding': 'br' } })
    expect(page.headers.get('content-encoding')).toBe('br')
    const policy = page.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).not.toContain('unsafe')
    const script = /src="(\/app-[^"]+\.js)"/.exec(await page.text())![1]
    const file = await fetch(`http://${a.http}${script}`)
    expect(file.headers.get('cache-control')).toContain('immutable')
    const etag = file.headers.get('etag')!
    const again = await fetch(`http://${a.http}${script}`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})
