/**
 * Stock clients with their default options while a node is killed and while one joins: no error reaches the program, what was
 * acknowledged is there, and every increment happened exactly once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import { Processes, until, untilBalanced, type NodeProcess } from '../../integration/process.js'
import { findRedisServer, RedisServer } from '../redis-server.js'

const processes = new Processes()
afterEach(() => processes.end())

interface Driver {
  incr(key: string): Promise<unknown>
  get(key: string): Promise<unknown>
  end(): void
}

function portOf(node: NodeProcess): number {
  return Number(node.address.split(':')[1])
}

const DRIVERS: Record<string, (node: NodeProcess) => Promise<Driver>> = {
  'ioredis alone': (node) => {
    const redis = new Redis(portOf(node))
    const end = (): void => redis.disconnect()
    return Promise.resolve({ incr: (key) => redis.incr(key), get: (key) => redis.get(key), end })
  },
  'ioredis as a cluster': (node) => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: portOf(node) }])
    const end = (): void => cluster.disconnect()
    return Promise.resolve({
      incr: (key) => cluster.incr(key),
      get: (key) => cluster.get(key),
      end
    })
  },
  'node-redis alone': async (node) => {
    const client = createClient({ socket: { port: portOf(node) } })
    client.on('error', () => undefined)
    await client.connect()
    const end = (): void => client.destroy()
    return { incr: (key) => client.incr(key), get: (key) => client.get(key), end }
  },
  'node-redis as a cluster': async (node) => {
    const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${portOf(node)}` }] })
    cluster.on('error', () => undefined)
    await cluster.connect()
    const end = (): void => cluster.destroy()
    return { incr: (key) => cluster.incr(key), get: (key) => cluster.get(key), end }
  }
}

const KEYS = 60
const CALLERS = 10
/** From the crash to the first write that needs the dead node's buckets. */
const FAILOVER_MS_MAX = 1500
/** How node-redis words it. */
const BROKEN = /ECONNRESET|ECONNREFUSED|EPIPE|Socket closed/

/** How long this process did not get the processor: what it measures is that much too long. */
class Stalls {
  #longestMs = 0
  #lastMs = performance.now()
  readonly #timer = setInterval(() => {
    const now = performance.now()
    this.#longestMs = Math.max(this.#longestMs, now - this.#lastMs)
    this.#lastMs = now
  }, 10)

  stop(): number {
    clearInterval(this.#timer)
    return this.#longestMs
  }
}

/** Of several attempts that failed together only the code is worth reading. */
function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? String((error as NodeJS.ErrnoException).code) : error.message
}

/** Callers that count, each on keys of its own, until they are stopped. */
class Load {
  readonly errors: string[] = []
  readonly counts = new Map<string, number>()
  /** The longest time a call took. */
  slowestMs = 0
  #stopped = false
  readonly #callers: Promise<void>[]

  constructor(driver: Driver) {
    this.#callers = Array.from({ length: CALLERS }, (_, i) => this.#run(driver, i))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#callers)
  }

  async #run(driver: Driver, caller: number): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const key = `counter:${caller}:${i % KEYS}`
      const before = performance.now()
      try {
        const value = Number(await driver.incr(key))
        this.counts.set(key, value)
      } catch (error) {
        this.errors.push(wordOf(error))
        this.counts.delete(key)
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - before)
      await pause(3)
    }
  }
}

async function expectCounted(load: Load, driver: Driver): Promise<void> {
  const wrong: string[] = []
  for (const [key, count] of load.counts) {
    const value = Number(await driver.get(key))
    if (value !== count) wrong.push(`${key}: ${value}, counted ${count}`)
  }
  expect(wrong).toEqual([])
}

describe.each(Object.entries(DRIVERS))('%s', (name, open) => {
  it('sees no error when a node joins', async () => {
    const nodes = await processes.cluster(['a', 'b', 'c'])
    const driver = await open(nodes[0])
    const load = new Load(driver)
    await pause(500)
    const fourth = await processes.start('d', '--join', nodes[0].address)
    await untilBalanced([...nodes, fourth])
    await pause(500)
    await load.stop()
    expect(load.errors).toEqual([])
    await expectCounted(load, driver)
    driver.end()
  })

  it('sees no error when a node is killed', async () => {
    const nodes = await processes.cluster(['a', 'b', 'c'])
    const driver = await open(nodes[0])
    const load = new Load(driver)
    await pause(1000)
    const stalls = new Stalls()
    load.slowestMs = 0
    await nodes[2].kill()
    await pause(4000)
    await load.stop()
    const stallMs = stalls.stop()
    // node-redis rejects what was under way on a connection that broke, at any server (below).
    const own = name === 'node-redis as a cluster' ? BROKEN : /^$/
    expect(load.errors.filter((error) => !own.test(error))).toEqual([])
    expect(load.errors.length).toBeLessThanOrEqual(CALLERS)
    await expectCounted(load, driver)
    driver.end()
    process.stdout.write(
      `${name}: ${Math.round(load.slowestMs)} ms from the crash to the first write (this process stalled for ${Math.round(stallMs)} ms)\n`
    )
    expect(load.slowestMs).toBeLessThan(FAILOVER_MS_MAX + 3 * stallMs)
  })
})

it('node-redis rejects what is under way when its connection breaks, at a real Redis as well', async (test) => {
  const path = findRedisServer()
  if (path === undefined) {
    test.skip('redis-server is not installed')
    return
  }
  const server = await RedisServer.start(path)
  const client = createClient({ socket: { port: server.port } })
  client.on('error', () => undefined)
  await client.connect()
  const taken = expect(client.blPop('nothing', 0)).rejects.toThrow(BROKEN)
  const other = new Redis(server.port)
  await until('a client that waits', async () =>
    (await other.info('clients')).includes('blocked_clients:1')
  )
  other.disconnect()
  await server.stop()
  await taken
  client.destroy()
})

interface Errors {
  readonly moved: number
  /** Commands about one key that the node had to pass on. */
  readonly passedOn: number
}

async function countErrands(node: NodeProcess): Promise<Errors> {
  const redis = new Redis(portOf(node))
  const text = await redis.info('everything')
  redis.disconnect()
  const read = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)
  return {
    moved: read(/errorstat_MOVED:count=(\d+)/),
    passedOn: read(/forwarded_commands:(\d+)/)
  }
}

it('node-redis as a cluster follows a rebalance without one redirection, by what it is told', async () => {
  const nodes = await processes.cluster(['a', 'b', 'c'])
  const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${portOf(nodes[0])}` }] })
  const problems: string[] = []
  cluster.on('error', (error: Error) => problems.push(error.message))
  await cluster.connect()
  const driver = {
    incr: (key: string) => cluster.incr(key),
    get: (key: string) => cluster.get(key),
    end: (): void => cluster.destroy()
  }
  const load = new Load(driver)
  await pause(500)
  const fourth = await processes.start('d', '--join', nodes[0].address)
  const all = [...nodes, fourth]
  await untilBalanced(all)
  const known = (): Set<string> =>
    new Set(cluster.slots.map(({ master }) => `${master.host}:${master.port}`))
  await until('the client to know all slots', async () => {
    const redis = new Redis(portOf(nodes[0]))
    const rows = (await redis.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
    redis.disconnect()
    return rows.every(([first, last, [host, port]]) =>
      cluster.slots
        .slice(first, last + 1)
        .every(({ master }) => master.host === host && master.port === port)
    )
  })
  expect(known().size).toBe(4)
  const before = await Promise.all(all.map(countErrands))
  await pause(1000)
  const after = await Promise.all(all.map(countErrands))
  await load.stop()
  // It finds its way by itself: nobody passes anything on for it any more.
  expect(after.map(({ passedOn }) => passedOn)).toEqual(before.map(({ passedOn }) => passedOn))
  expect(after.map(({ moved }) => moved)).toEqual([0, 0, 0, 0])
  expect(load.errors).toEqual([])
  expect(problems).toEqual([])
  await expectCounted(load, driver)
  driver.end()
})
