// The client while nodes join, leave, die and hang: nothing that was acknowledged is lost, reads do not fail, and a
// write fails only if nobody can know what became of it.
import { setTimeout as think } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { latin1Bytes } from '../../src/core/bytes.js'
import { redisHash } from '../../src/core/hash/placement-hash.js'
import { connect, OpenClusterError, type Client, type ClientOptions } from '../../src/index.js'
import { Processes, until, untilBalanced, type NodeProcess } from './process.js'

const processes = new Processes()
const clients: Client[] = []
afterEach(async () => {
  await processes.end()
  await Promise.all(clients.splice(0).map((client) => client.close()))
})

async function open(node: NodeProcess, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(node.address, { timeoutMs: 20_000, ...options })
  clients.push(client)
  return client
}

const valueOf = (i: number): string => `value ${i} ${'x'.repeat(i % 100)}`

/** Between two commands of a caller, so that the nodes have a processor left for what the test is about. */
const THINK_MS = 2

/** Callers that write key after key and read some back, until they are stopped. */
class Load {
  readonly acknowledged: number[] = []
  readonly failures: string[] = []
  readonly #db: Client
  readonly #callers: Promise<void>[]
  #next = 0
  #stopped = false

  constructor(db: Client, callers = 20) {
    this.#db = db
    this.#callers = Array.from({ length: callers }, () => this.#write())
  }

  /** More writes than now are acknowledged. */
  async goesOn(more = 500): Promise<void> {
    const wanted = this.acknowledged.length + more
    const state = (): string => `${wanted} writes, not ${this.acknowledged.length}`
    await until(state, () => this.acknowledged.length >= wanted)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#callers)
  }

  async expectAll(db: Client): Promise<void> {
    const numbers = [...this.acknowledged]
    const values = await Promise.all(numbers.map((i) => db.get(`key:${i}`)))
    expect(numbers.filter((i, place) => values[place] !== valueOf(i))).toEqual([])
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const i = this.#next++
      try {
        await this.#db.set(`key:${i}`, valueOf(i))
        this.acknowledged.push(i)
      } catch (error) {
        this.failures.push(error instanceof OpenClusterError ? error.code : String(error))
      }
      await think(THINK_MS)
      if (i % 4 !== 0) continue
      const read = this.acknowledged[i % this.acknowledged.length] as number | undefined
      if (read === undefined) continue
      const value = await this.#db.get(`key:${read}`).catch((error: unknown) => String(error))
      if (value !== valueOf(read)) this.failures.push(`read ${read}: ${String(value)}`)
    }
  }
}

test('one node becomes four and three again under load, and nothing fails', async () => {
  const a = await processes.start('a')
  const db = await open(a)
  const load = new Load(db)
  await load.goesOn()
  const b = await processes.start('b', '--join', a.address)
  await load.goesOn()
  const others = await Promise.all(
    ['c', 'd'].map((name) => processes.start(name, '--join', b.address))
  )
  const nodes = [a, b, ...others]
  await untilBalanced(nodes)
  await until('connections to all', () => db.view().connected.length === 4)
  expect(db.view().nodes).toEqual(nodes.map(({ address }) => address).sort())
  // The node the client came by goes; it does not need it.
  a.signal('SIGTERM')
  expect(await a.ended).toEqual({ code: 0, signal: null })
  await load.goesOn()
  await load.stop()
  expect(load.failures).toEqual([])
  await load.expectAll(db)
  await load.expectAll(await open(b))
})

test('kill -9 under load: what was acknowledged is there, and only writes in doubt failed', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  const db = await open(a)
  await until('connections to all', () => db.view().connected.length === 3)
  const load = new Load(db)
  await load.goesOn()
  // The node the client came by, and that tells it of changes.
  a.signal('SIGKILL')
  await load.goesOn()
  await untilBalanced([b, c])
  await load.goesOn()
  await load.stop()
  expect(new Set(load.failures)).toEqual(new Set(load.failures.length > 0 ? ['OC_UNKNOWN'] : []))
  // At most what was under way.
  expect(load.failures.length).toBeLessThanOrEqual(20)
  await load.expectAll(db)
  await load.expectAll(await open(c))
  expect(db.view().nodes).toEqual([b.address, c.address].sort())
})

test('a node that hangs: reads go on at once, writes when its backup has taken over', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  const db = await open(a, { answerMs: 300, timeoutMs: 4000 })
  await until('connections to all', () => db.view().connected.length === 3)
  const load = new Load(db)
  await load.goesOn()
  b.signal('SIGSTOP')
  try {
    await load.goesOn(2000)
    // Every key can be read while it hangs.
    await load.expectAll(db)
    await until('the table without it', () => !db.view().nodes.includes(b.address))
  } finally {
    b.signal('SIGCONT')
  }
  await untilBalanced([a, b, c])
  await until('all connections again', () => db.view().connected.length === 3)
  await load.goesOn()
  await load.stop()
  expect(load.failures.filter((failure) => failure !== 'OC_UNKNOWN')).toEqual([])
  expect(load.failures.length).toBeLessThanOrEqual(20)
  await load.expectAll(db)
})

test('a cluster that was started anew at the same place is another one', async () => {
  const first = await processes.cluster(['a', 'b'])
  const db = await open(first[0])
  await db.set('k', 'old')
  const before = db.view().cluster
  const [host, port] = first[0].address.split(':')
  await Promise.all(first.map((node) => node.kill()))
  const again = await processes.start('a', '--host', host, '--port', port)
  expect(await db.get('k')).toBe(null)
  await until('another cluster', () => db.view().cluster !== before)
  expect(await db.set('k', 'new')).toBe(true)
  expect(db.view().nodes).toEqual([again.address])
})

test('events go on over a join, a kill and the loss of the node that told them', async () => {
  const [a, b] = await processes.cluster(['a', 'b', 'c'])
  const db = await open(a, { repeatWrites: true })
  const watcher = await open(b)
  await until('connections to all', () => watcher.view().connected.length === 3)
  const stream = watcher.watch('key:*')
  await stream.ready
  const seen = new Map<string, number>()
  let gaps = 0
  const watching = (async () => {
    for await (const event of stream) {
      if (event.kind === 'gap') gaps++
      else seen.set(event.key, (seen.get(event.key) ?? 0) + 1)
    }
  })()
  const load = new Load(db, 5)
  const allSeen = (): boolean => load.acknowledged.every((i) => seen.has(`key:${i}`))
  await load.goesOn()
  const d = await processes.start('d', '--join', a.address)
  await load.goesOn()
  await until('a look at the new node', () => watcher.view().nodes.includes(d.address))
  await load.goesOn()
  expect(gaps).toBe(0)
  await b.kill()
  await load.goesOn(1000)
  await load.stop()
  expect(load.failures).toEqual([])
  await until('all events, or word of a gap', () => allSeen() || gaps > 0)
  // Whatever was missed, from now on everything is told.
  await db.set('key:last', 'v')
  await until('the last event', () => seen.has('key:last'))
  stream.end()
  await watching
})

test('a lock has one holder at a time while its primary dies', async () => {
  const nodes = await processes.cluster(['a', 'b', 'c'])
  const { buckets } = await nodes[0].status()
  const name = latin1Bytes('door')
  const { primary } = buckets[redisHash.hash(name, 0, name.length) & (buckets.length - 1)]
  const doomed = nodes[['a', 'b', 'c'].indexOf(primary!)]
  const db = await open(nodes.find((node) => node !== doomed)!)
  const tokens: number[] = []
  let [inside, stopped] = [0, false]
  const lock = db.lock('door', { ttlMs: 10_000 })
  const holder = async (): Promise<void> => {
    while (!stopped) {
      await lock.use(async ({ token }) => {
        expect(++inside).toBe(1)
        tokens.push(token)
        await db.ping()
        inside--
      })
    }
  }
  const holders = [holder(), holder(), holder()]
  await until('some holders', () => tokens.length > 20)
  await doomed.kill()
  const before = tokens.length
  await until('more holders', () => tokens.length > before + 20)
  stopped = true
  await Promise.all(holders)
  expect(tokens).toEqual([...tokens].sort((x, y) => x - y))
  expect(new Set(tokens).size).toBe(tokens.length)
})
