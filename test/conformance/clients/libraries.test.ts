/**
 * Stock clients and libraries, unmodified and with their default options, at three real nodes and at a real Redis: the
 * same story has the same end.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { RedisStore } from 'connect-redis'
import { createCache } from 'cache-manager'
import KeyvRedis from '@keyv/redis'
import { Redis, Cluster } from 'ioredis'
import { Keyv } from 'keyv'
import { createClient, createCluster } from 'redis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { BothServers } from './both-servers.js'
import { Ear, everyday, plain } from './stories.js'

const both = new BothServers()
beforeAll(() => both.start(), 150_000)
afterAll(() => both.stop())
const compare = both.compare.bind(both)

type Command = (string | number)[]

function lower([name, ...args]: Command): Command {
  return [String(name).toLowerCase(), ...args]
}

function stringsOf(command: Command): string[] {
  return command.map(String)
}

describe('ioredis', () => {
  it('alone', () =>
    compare(async ({ port }) => {
      const redis = new Redis(port)
      const other = redis.duplicate()
      const call = (...[name, ...args]: Command): Promise<unknown> =>
        redis.call(String(name), ...args)
      const seen = await everyday({
        call,
        multi: (commands) => redis.multi(commands.map(lower)).exec(),
        pipeline: (commands) => redis.pipeline(commands.map(lower)).exec()
      })
      const taken = redis.blpop('queue', 0)
      await other.rpush('queue', 'job')
      seen.push(await taken)
      const found: string[] = []
      await redis.mset({ scan1: '1', scan2: '2', scan3: '3' })
      for await (const keys of redis.scanStream({ match: 'scan*' }))
        found.push(...(keys as string[]))
      seen.push(found.sort())
      redis.disconnect()
      other.disconnect()
      return seen
    }))

  it('as a listener', () =>
    compare(async ({ port }) => {
      const [listener, redis] = [new Redis(port), new Redis(port)]
      const ear = new Ear()
      await redis.config('SET', 'notify-keyspace-events', 'KEA')
      listener.on('message', ear.take)
      listener.on('pmessage', ear.take)
      const seen: unknown[] = [
        await listener.subscribe('news', 'sport'),
        await listener.psubscribe('__keyevent@0__:*'),
        await redis.publish('news', 'hello'),
        await redis.set('key', 'x'),
        await redis.lpush('list', 'x'),
        await redis.publish('sport', 'goal')
      ]
      seen.push([...(await ear.until(4))])
      // All of them at once is more than ioredis 6 can do at a real Redis.
      seen.push(await listener.unsubscribe('news', 'sport'))
      seen.push(await listener.punsubscribe('__keyevent@0__:*'))
      seen.push(await listener.get('key'))
      listener.disconnect()
      redis.disconnect()
      return seen
    }))

  it('as a cluster', () =>
    compare(async ({ clusterPort }) => {
      const cluster = new Cluster([{ host: '127.0.0.1', port: clusterPort }])
      const seen = await everyday({
        call: async (...[name, ...args]) => cluster.call(String(name), ...args),
        multi: (commands) => cluster.multi(commands.map(lower)).exec(),
        pipeline: (commands) => cluster.pipeline(commands.map(lower)).exec()
      })
      const ear = new Ear()
      cluster.on('message', ear.take)
      seen.push(await cluster.subscribe('news'))
      const publisher = new Cluster([{ host: '127.0.0.1', port: clusterPort }])
      seen.push(await publisher.publish('news', 'hello'), await ear.until(1))
      cluster.disconnect()
      publisher.disconnect()
      return seen
    }))
})

describe('node-redis', () => {
  it('alone', () =>
    compare(async ({ port }) => {
      const client = createClient({ socket: { port } })
      client.on('error', () => undefined)
      await client.connect()
      const queue = (commands: Command[]) => {
        const multi = client.multi()
        for (const command of commands) multi.addCommand(stringsOf(command))
        return multi
      }
      const seen = await everyday({
        call: (...command) => client.sendCommand(stringsOf(command)),
        multi: (commands) => queue(commands).exec(),
        pipeline: (commands) => queue(commands).execAsPipeline()
      })
      const other = await client.duplicate().connect()
      const taken = client.blPop('queue', 0)
      await other.rPush('queue', 'job')
      seen.push(plain(await taken))
      await client.mSet({ scan1: '1', scan2: '2' })
      const found: string[] = []
      for await (const keys of client.scanIterator({ MATCH: 'scan*' })) found.push(...keys)
      seen.push(found.sort(), await client.hGetAll('h'), await client.zRangeWithScores('z', 0, -1))
      client.destroy()
      other.destroy()
      return seen
    }))

  it('as a listener', () =>
    compare(async ({ port }) => {
      const client = await createClient({ socket: { port } }).connect()
      const listener = await client.duplicate().connect()
      const ear = new Ear()
      await listener.subscribe('news', ear.take)
      await listener.pSubscribe('n*', ear.take)
      await listener.sSubscribe('shard', ear.take)
      const seen: unknown[] = [
        await client.publish('news', 'hello'),
        await client.sPublish('shard', 'piece'),
        await client.pubSubNumSub(['news', 'other']),
        await client.pubSubChannels(),
        await client.pubSubNumPat()
      ]
      seen.push([...(await ear.until(3))])
      await listener.unsubscribe()
      await listener.pUnsubscribe()
      await listener.sUnsubscribe()
      seen.push(await client.publish('news', 'nobody'))
      client.destroy()
      listener.destroy()
      return seen.map(plain)
    }))

  it('with a cache of its own, which is told what is old', () =>
    compare(async ({ port }) => {
      const client = await createClient({
        socket: { port },
        RESP: 3,
        clientSideCache: { ttl: 0, maxEntries: 0, evictPolicy: 'LRU' }
      }).connect()
      const writer = await createClient({ socket: { port } }).connect()
      const seen: unknown[] = []
      for (let i = 0; i < 3; i++) {
        await writer.set('cached', String(i))
        // Told behind the write; until then the older value is right.
        const deadline = Date.now() + 5000
        let value = await client.get('cached')
        while (value !== String(i) && Date.now() < deadline) {
          await pause(5)
          value = await client.get('cached')
        }
        seen.push(value, await client.get('cached'))
      }
      client.destroy()
      writer.destroy()
      return seen
    }))

  it('as a cluster', () =>
    compare(async ({ clusterPort }) => {
      const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${clusterPort}` }] })
      cluster.on('error', () => undefined)
      await cluster.connect()
      const keyOf = (command: Command): string => String(command[1] ?? '')
      const queue = (commands: Command[]) => {
        const multi = cluster.multi(keyOf(commands[0]))
        for (const command of commands) {
          multi.addCommand(keyOf(command), false, stringsOf(command))
        }
        return multi
      }
      const seen = await everyday({
        call: (...command) =>
          cluster.sendCommand<unknown>(keyOf(command), false, stringsOf(command)),
        multi: (commands) => queue(commands.slice(0, 1)).exec(),
        pipeline: (commands) => queue(commands.slice(0, 2)).execAsPipeline()
      })
      const ear = new Ear()
      await cluster.subscribe('news', ear.take)
      await cluster.sSubscribe('shard', ear.take)
      await cluster.publish('news', 'hello')
      seen.push([...(await ear.until(1))])
      seen.push(await cluster.sPublish('shard', 'piece'))
      seen.push([...(await ear.until(2))])
      cluster.destroy()
      return seen
    }))
})

describe('libraries', () => {
  it('connect-redis', () =>
    compare(async ({ port }) => {
      const client = await createClient({ socket: { port } }).connect()
      const store = new RedisStore({ client, prefix: 'sess:' })
      const cookie = { originalMaxAge: 60_000, expires: new Date(Date.now() + 60_000) }
      const seen: unknown[] = []
      await store.set('one', { cookie, user: 1 })
      await store.set('two', { cookie, user: 2 })
      const one = (await store.get('one')) as unknown as { user: number }
      seen.push(one.user, await store.length(), ((await store.ids()) as string[]).sort())
      await store.touch('one', { cookie })
      seen.push((await client.ttl('sess:one')) > 50)
      await store.destroy('two')
      seen.push(await store.get('two'), ((await store.all()) as unknown[]).length)
      await store.clear()
      seen.push(await store.length())
      client.destroy()
      return seen
    }))

  it('keyv', () =>
    compare(async ({ port }) => {
      const keyv = new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`), { namespace: 'ns' })
      const seen: unknown[] = []
      seen.push(await keyv.set('a', { deep: [1, 2] }), await keyv.get('a'), await keyv.get('none'))
      await keyv.setMany([
        { key: 'b', value: 1 },
        { key: 'c', value: 2, ttl: 60_000 }
      ])
      seen.push(
        await keyv.getMany(['a', 'b', 'c', 'd']),
        await keyv.has('a'),
        await keyv.delete('a')
      )
      seen.push(await keyv.deleteMany(['b', 'x']), await keyv.get('c'))
      const names: unknown[] = []
      for await (const [name, value] of keyv.iterator?.({}) ?? []) names.push([name, value])
      await keyv.clear()
      seen.push(names, await keyv.get('c'))
      await keyv.disconnect()
      return seen
    }))

  it('cache-manager', () =>
    compare(async ({ port }) => {
      const stores = [new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`))]
      const cache = createCache({ stores, ttl: 60_000 })
      const seen: unknown[] = []
      seen.push(await cache.set('a', 1), await cache.get('a'), await cache.get('none'))
      seen.push(
        await cache.mset([
          { key: 'b', value: 2 },
          { key: 'c', value: 3 }
        ])
      )
      seen.push(
        await cache.mget(['a', 'b', 'x']),
        await cache.wrap('w', () => 7),
        await cache.get('w')
      )
      seen.push(await cache.del('a'), await cache.mdel(['b', 'c']), await cache.get('b'))
      seen.push(await cache.clear(), await cache.get('w'))
      await cache.disconnect()
      return seen.map(plain)
    }))
})
