/**
 * socket.io with its adapters for Redis: servers that meet by way of the cluster, with a browser's client at each of
 * them, tell the same story as at a real Redis.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter'
import { createClient } from 'redis'
import { Server as SocketServer } from 'socket.io'
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../integration/process.js'
import { BothServers } from './both-servers.js'

const both = new BothServers()
beforeAll(() => both.start(), 150_000)
afterAll(() => both.stop())

interface Site {
  readonly server: SocketServer
  readonly browser: Socket
  readonly heard: unknown[]
  close(): Promise<void>
}

/** A server of socket.io's at a port of Redis's, and a browser at the server. */
async function openSite(name: string, port: number, create: typeof createAdapter): Promise<Site> {
  const publisher = createClient({ socket: { port } })
  publisher.on('error', () => undefined)
  await publisher.connect()
  const listener = await publisher.duplicate().connect()
  const http = createServer()
  const server = new SocketServer(http, { adapter: create(publisher, listener) })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const heard: unknown[] = []
  server.on('connection', (socket) => {
    void socket.join(name)
    void socket.join('all rooms')
  })
  server.on('between servers', (text: string, reply: (answer: string) => void) => {
    heard.push(['server', text])
    reply(name)
  })
  const { port: httpPort } = http.address() as AddressInfo
  const browser = io(`http://127.0.0.1:${httpPort}`, { transports: ['websocket'] })
  browser.on('said', (...words: unknown[]) => heard.push(['browser', ...words]))
  browser.on('asked', (reply: (answer: string) => void) => reply(name))
  await until(`${name}'s browser`, () => browser.connected)
  const close = async (): Promise<void> => {
    browser.disconnect()
    await server.close()
    await publisher.close()
    await listener.close()
  }
  return { server, browser, heard, close }
}

const ADAPTERS = { 'the adapter': createAdapter, 'the sharded adapter': createShardedAdapter }

it.each(Object.entries(ADAPTERS))('%s', async (_, create) => {
  await both.compare(async ({ port }) => {
    const sites = await Promise.all(
      ['left', 'right'].map((name) => openSite(name, port, create as typeof createAdapter))
    )
    const [left, right] = sites
    // Each has to have heard of the other before anything can be counted.
    await until('both servers', async () => {
      const sockets = await Promise.all(sites.map(({ server }) => server.fetchSockets()))
      return sockets.every((list) => list.length === 2)
    })
    const seen: unknown[] = []
    left.server.emit('said', 'to everybody', { deep: [1, 2] })
    await until('what is said to all', () => sites.every(({ heard }) => heard.length === 1))
    left.server.to('right').emit('said', 'to the other one', Buffer.from([0, 255]))
    // What two servers say has no order of its own.
    await until('what is said to one', () => right.heard.length === 2)
    right.server.to('all rooms').except('left').emit('said', 'but not to that one')
    await until('what is said to a room', () => right.heard.length === 3)
    const answers = (await left.server.timeout(5000).emitWithAck('asked')) as string[]
    seen.push(answers.sort())
    seen.push(await left.server.serverSideEmitWithAck('between servers', 'hello'))
    left.server.in('right').socketsJoin('moved')
    await until('the other one in the room', async () => {
      return (await left.server.in('moved').fetchSockets()).length === 1
    })
    left.server.in('moved').disconnectSockets()
    await until('the other one gone', () => !right.browser.connected)
    seen.push(sites.map(({ heard }) => [...heard]))
    await Promise.all(sites.map((site) => site.close()))
    return seen
  })
  expect.hasAssertions()
})
