/**
 * The three problems that the documents leave open, with real processes; cuts between hosts in network namespaces. What the
 * cluster promises is in docs/consistency.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { canMakeHosts, Hosts } from './hosts.js'
import { bucketOf, EventFeed, readMetric, sumMetric, type Told } from './observation.js'
import { Processes, until, untilBalanced, type NodeProcess } from './process.js'
import { Recorder } from './recorder.js'

const processes = new Processes()
const folder = mkdtempSync(join(tmpdir(), 'opencluster-problems-'))
const secret = join(folder, 'secret')
writeFileSync(secret, 'a secret of the tests\n', { mode: 0o600 })
let hosts: Hosts | undefined
afterEach(async () => {
  await processes.end()
  hosts?.end()
  hosts = undefined
})
afterAll(() => rmSync(folder, { recursive: true }))

async function fill(node: NodeProcess, count: number, bytes: number): Promise<string[]> {
  const connection = await processes.connect(node)
  const keys = Array.from({ length: count }, (_, i) => `key:${i}`)
  for (let from = 0; from < count; from += 500) {
    const part = keys.slice(from, from + 500)
    await Promise.all(part.map((key) => connection.call('SET', key, key.padEnd(bytes, '.'))))
  }
  return keys
}

/** Keys that are not what was written, by how: gone, or wrong. */
async function missing(
  node: NodeProcess,
  keys: readonly string[],
  bytes: number
): Promise<string[]> {
  const connection = await processes.connect(node)
  const values = await Promise.all(keys.map((key) => connection.call('GET', key)))
  return keys.filter((key, i) => values[i] !== key.padEnd(bytes, '.'))
}

describe('the only copy of a bucket dies during its first sync', () => {
  test('the loss is told, the buckets start empty, and what was copied is kept', async () => {
    const options = ['--buckets', '256', '--lost-after', '2']
    const a = await processes.start('a', ...options)
    const keys = await fill(a, 30_000, 2000)
    const b = await processes.start('b', '--join', a.address, ...options)
    const copied = async (): Promise<number> => {
      const { buckets } = await b.status()
      return buckets.filter((it) => it.primary === 'b' || it.backups.includes('b')).length
    }
    await until('some copies', async () => (await copied()) > 10)
    const feed = await EventFeed.open(b)
    await a.kill()
    await until('the loss to be told', async () => (await b.status()).lost > 0)
    await until('every bucket to be served', async () => {
      const { buckets } = await b.status()
      return buckets.every(({ primary, state }) => primary === 'b' && state !== 'lost')
    })
    const { lost } = await b.status()
    expect(lost).toBeGreaterThan(0)
    expect(lost).toBeLessThan(256)
    expect(b.stderr).toContain('a bucket was lost with all its copies')
    await until('an event a bucket', () => feed.of('lost').length >= lost)
    const told = feed.of('lost').map(({ bucket }) => bucket)
    expect(new Set(told).size).toBe(lost)
    expect(told).toHaveLength(lost)
    expect(await readMetric(b, 'opencluster_buckets_lost_total')).toBe(lost)
    // Served again, so nobody has to be woken for them any more.
    expect(await readMetric(b, 'opencluster_buckets_lost')).toBe(0)
    const gone = await missing(b, keys, 2000)
    expect(gone.length).toBeLessThan(keys.length)
    // Whole buckets are gone, those that were told, and nothing else.
    const goneBuckets = new Set(gone.map((key) => bucketOf(key, 255)))
    expect([...goneBuckets].filter((bucket) => !told.includes(bucket))).toEqual([])
    const alive = keys.filter((key) => !goneBuckets.has(bucketOf(key, 255)))
    expect(await missing(b, alive, 2000)).toEqual([])
    const connection = await processes.connect(b)
    expect(await connection.call('SET', gone[0], 'again')).toBe('OK')
  })
})

describe('two nodes die at once with both copies of some buckets', () => {
  test('the survivors tell it, start these buckets empty, and keep everything else', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const nodes = await processes.cluster(
      names,
      '--buckets',
      '256',
      '--lost-after',
      '2',
      '--split-at',
      '0'
    )
    const [a, , , d, e] = nodes
    const keys = await fill(a, 4000, 50)
    const { buckets } = await a.status()
    const both = buckets.filter(({ primary, backups }) => {
      return [primary, ...backups].every((name) => name === 'd' || name === 'e')
    })
    expect(both.length).toBeGreaterThan(0)
    const doomed = new Set(both.map(({ id }) => id))
    const rest = nodes.slice(0, 3)
    const feeds = await Promise.all(rest.map((node) => EventFeed.open(node)))
    d.signal('SIGKILL')
    e.signal('SIGKILL')
    await untilBalanced(rest)
    const status = await a.status()
    expect(status.lost).toBe(both.length)
    expect(status.withoutBackup).toBe(0)
    expect(rest.some((node) => node.stderr.includes('a bucket was lost with all its copies'))).toBe(
      true
    )
    // Whoever starts a bucket empty tells it, once.
    const told = (): number[] =>
      feeds.flatMap((feed) => feed.of('lost').map(({ bucket }) => Number(bucket)))
    await until('an event a bucket', () => told().length >= doomed.size)
    expect(told().sort((one, other) => one - other)).toEqual([...doomed])
    expect(await sumMetric(rest, 'opencluster_buckets_lost_total')).toBe(both.length)
    const safe = keys.filter((key) => !doomed.has(bucketOf(key, 255)))
    expect(safe.length).toBeLessThan(keys.length)
    expect(await missing(rest[1], safe, 50)).toEqual([])
    const gone = keys.find((key) => doomed.has(bucketOf(key, 255)))!
    const connection = await processes.connect(rest[2])
    expect(await connection.call('GET', gone)).toBe(null)
    expect(await connection.call('SET', gone, 'again')).toBe('OK')
  })
})

async function startOn(count: number, policy: string, ...more: string[]): Promise<NodeProcess[]> {
  hosts = new Hosts(count)
  const nodes: NodeProcess[] = []
  for (let host = 1; host <= count; host++) {
    const options = [
      '--host',
      hosts.address(host),
      '--secret-file',
      secret,
      '--policy',
      policy,
      ...more
    ]
    if (host > 1) options.push('--join', nodes[0].address)
    const node = processes.launchIn(hosts.enter(host), `n${host}`, ...options)
    nodes.push(await node.serves())
  }
  await untilBalanced(nodes)
  return nodes
}

describe.runIf(canMakeHosts())('a name that stands for several machines', () => {
  test('leads to the one that answers', async () => {
    hosts = new Hosts(3)
    hosts.call(3, 'cluster.test', [2, 1])
    const options = ['--secret-file', secret, '--host']
    const first = await processes
      .launchIn(hosts.enter(1), 'n1', ...options, hosts.address(1))
      .serves()
    const join = `cluster.test:${first.address.split(':')[1]}`
    const third = await processes
      .launchIn(hosts.enter(3), 'n3', ...options, hosts.address(3), '--join', join)
      .serves()
    await untilBalanced([first, third])
  })
})

describe.runIf(canMakeHosts())('a network that is cut in two, with clients on both sides', () => {
  test('majority: the smaller side serves nothing, and every history can be explained', async () => {
    const nodes = await startOn(3, 'majority')
    const recorder = new Recorder()
    for (const { address } of nodes) {
      recorder.work(address)
      recorder.work(address)
    }
    await until('some traffic', () => recorder.answeredSince(0) > 200)
    hosts!.cut(1, [2, 3])
    const cutMs = performance.now()
    await until('the larger side to go on', () => recorder.answeredSince(cutMs + 2000, 2) > 20)
    // The smaller side's lease has run out long ago: it has answered nothing since.
    expect(recorder.answeredSince(cutMs + 1500, 0)).toBe(0)
    hosts!.mend()
    const mendedMs = performance.now()
    await until('the smaller side to serve again', () => recorder.answeredSince(mendedMs, 0) > 20)
    await recorder.stop()
    await recorder.readBack(nodes[1].address)
    expect(recorder.contradictions()).toEqual([])
    await untilBalanced(nodes)
    expect(await nodes[0].status()).toMatchObject({ lost: 0, withoutBackup: 0 })
  })

  test('majority: cut in one direction only, again and again', async () => {
    const nodes = await startOn(3, 'majority')
    const recorder = new Recorder()
    for (const { address } of nodes) recorder.work(address)
    for (const [from, to] of [
      [1, 2],
      [2, 3],
      [3, 1]
    ] as const) {
      const before = performance.now()
      hosts!.cutOneWay(from, to)
      await pause(1500)
      hosts!.mend()
      await until('everyone to serve', () =>
        [0, 1, 2].every((client) => recorder.answeredSince(before + 1500, client) > 5)
      )
    }
    await recorder.stop()
    await recorder.readBack(nodes[1].address)
    expect(recorder.contradictions()).toEqual([])
    await untilBalanced(nodes)
  })

  test('available: both sides go on, and afterwards conflicts are counted and the newest value is there', async () => {
    const nodes = await startOn(2, 'available', '--http-port', '0')
    const [one, two] = await Promise.all(nodes.map((node) => processes.connect(node)))
    const keys = Array.from({ length: 200 }, (_, i) => `key:${i}`)
    for (const key of keys) expect(await one.call('SET', key, 'before')).toBe('OK')
    hosts!.cut(1, [2])
    const feeds = await Promise.all(nodes.map((node) => EventFeed.open(node)))
    await until('each to take the other for dead', async () => {
      const states = await Promise.all(nodes.map((node) => node.ownStatus()))
      return states.every((status) => status.nodes.some(({ state }) => state === 'dead'))
    })
    for (const key of keys) expect(await one.call('SET', key, 'one')).toBe('OK')
    for (const key of keys) expect(await one.call('SET', `only:${key}`, 'one')).toBe('OK')
    for (const key of keys) expect(await two.call('SET', key, 'two')).toBe('OK')
    hosts!.mend()
    await untilBalanced(nodes)
    await until('both to say the same', async () => {
      const values = await Promise.all(
        keys.flatMap((key) => [one.call('GET', key), two.call('GET', key)])
      )
      return values.every((value) => value === 'two')
    })
    // What only one side wrote is kept.
    await until('the rest to be merged', async () => {
      const values = await Promise.all(keys.map((key) => two.call('GET', `only:${key}`)))
      return values.every((value) => value === 'one')
    })
    await until('the conflicts to be told', () =>
      nodes.some(({ stderr }) => stderr.includes('both sides of a cut wrote a key'))
    )
    // Every key that both wrote is told and counted, once, and none that only one of them wrote.
    const told = (): Told['data'][] => feeds.flatMap((feed) => feed.of('conflict'))
    await until('an event a key', () => told().length >= keys.length)
    expect(new Set(told().map(({ key }) => key))).toEqual(new Set(keys))
    expect(told()).toHaveLength(keys.length)
    for (const { keptVersion, droppedVersion } of told()) {
      expect(droppedVersion).toBeGreaterThan(0)
      expect(keptVersion).toBeGreaterThan(Number(droppedVersion))
    }
    expect(await sumMetric(nodes, 'opencluster_conflicts_total')).toBe(keys.length)
  })
})

describe('a process that is stopped and goes on', () => {
  test('has lost what it held for a while, and no history breaks', async () => {
    const nodes = await processes.cluster(['a', 'b', 'c'], '--policy', 'majority')
    const recorder = new Recorder()
    for (const { address } of nodes) recorder.work(address)
    for (const node of nodes) {
      const before = performance.now()
      node.signal('SIGSTOP')
      await until('the others to go on', () => {
        return nodes.every(
          (other, client) => other === node || recorder.answeredSince(before + 1800, client) > 5
        )
      })
      const resumed = performance.now()
      node.signal('SIGCONT')
      await until('all to serve', () => {
        return nodes.every((_, client) => recorder.answeredSince(resumed, client) > 5)
      })
      // What has one copy only cannot be served while that is stopped.
      await until('every bucket to have its backup', async () => {
        return (await nodes[0].status()).withoutBackup === 0
      })
    }
    await recorder.stop()
    await recorder.readBack(nodes[1].address)
    expect(recorder.contradictions()).toEqual([])
    await untilBalanced(nodes)
    expect(await nodes[0].status()).toMatchObject({ lost: 0, withoutBackup: 0 })
  })
})
