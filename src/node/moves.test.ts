import { describe, expect, it } from 'vitest'
import { MOVE_STAGES } from '../core/migration/stage.js'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'

/** Copies take long: a batch holds an item or two. */
const SLOW = { copyBatchBytes: 100, copyWindowBytes: 200 }

function fill(cluster: MiniCluster, at: MiniNode, count: number): string[] {
  const client = cluster.client(at)
  const keys = Array.from({ length: count }, (_, i) => `key:${i}`)
  for (const key of keys) client.send('SET', key, `v of ${key}`)
  cluster.runUntil(() => client.replies.length === count)
  return keys
}

/** What a move leaves in a node while it lasts, and must not afterwards. */
function traces(at: MiniNode): string[] {
  return at.held.flatMap((state) => {
    const found: string[] = []
    if (state.role === 'incoming') found.push(`${state.id}: incoming`)
    if (state.forwarding !== undefined) found.push(`${state.id}: forwarding`)
    if (state.holding) found.push(`${state.id}: holding`)
    if (state.items.copying) found.push(`${state.id}: a copy is open`)
    if (state.waiting.length > 0) found.push(`${state.id}: requests wait`)
    return found
  })
}

describe('a move', () => {
  it('goes through all stages in order', () => {
    const cluster = new MiniCluster()
    const a = cluster.start('a')
    fill(cluster, a, 100)
    cluster.start('b')
    cluster.balance()
    // Every bucket was copied to the only other node.
    for (let bucket = 0; bucket < 16; bucket++) {
      expect(a.stagesOf(bucket).slice(0, MOVE_STAGES.length)).toEqual(MOVE_STAGES)
    }
    expect(a.node.inspect().shipped).toBe(16)
    expect(traces(a)).toEqual([])
  })

  it('waits for nothing while it copies, and decides in one round', () => {
    const wayMs = 50
    const cluster = new MiniCluster({ copyBatchBytes: 100 }, { delayMs: wayMs, jitterMs: 0 })
    const a = cluster.start('a')
    fill(cluster, a, 600)
    const times = new Map<number, number[]>()
    cluster.onEvent = (at, event) => {
      if (at !== a || event.kind !== 'stage' || event.isSwitch) return
      times.set(event.bucket, [...(times.get(event.bucket) ?? []), cluster.now])
    }
    cluster.start('b')
    cluster.balance()
    expect(times.size).toBe(16)
    // The first ones go on while the new node is made a voter.
    for (const moments of [...times.values()].slice(3)) {
      const [, copy, caughtUp, handOver, done] = moments
      // A copy of some forty batches is on its way before the first of them is acknowledged.
      expect(caughtUp - copy).toBeLessThan(2 * wayMs)
      expect(done - handOver).toBeLessThan(2 * wayMs + 1)
    }
  })

  it('ships nothing when everything is in its place', () => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b', 'c')
    const shipped = (): number[] => nodes.map(({ node }) => node.inspect().shipped)
    const before = [...shipped(), nodes[0].node.table.digest()]
    cluster.run(10_000)
    // Not even a switch: the table is the same as well.
    expect([...shipped(), nodes[0].node.table.digest()]).toEqual(before)
  })

  it('holds requests during a hand-over and answers them, never refuses', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const keys = fill(cluster, a, 200)
    const c = cluster.start('c')
    const clients = Array.from({ length: 200 }, (_, i) => cluster.client([a, b, c][i % 3]))
    let held = 0
    for (let i = 0; i < 3000; i++) {
      const holding = [a, b, c].flatMap((at) => at.held.filter((state) => state.holding))
      held += holding.reduce((sum, state) => sum + state.waiting.length, 0)
      clients[i % 200].send('INCR', `n:${keys[i % 200]}`)
      cluster.run(0.2)
    }
    cluster.balance()
    cluster.run(1000)
    expect(held).toBeGreaterThan(0)
    // Each counter was raised 15 times, by one client after the other: no reply is missing or odd.
    for (const { replies } of clients) {
      expect(replies).toEqual(Array.from({ length: 15 }, (_, i) => i + 1))
    }
    expect(cluster.differences()).toEqual([])
  })

  it('ends although its bucket is written faster than it is copied', () => {
    const cluster = new MiniCluster({ ...SLOW })
    const a = cluster.start('a')
    const keys = fill(cluster, a, 600)
    const client = cluster.client(a)
    client.call('OC.ACKS', 'primary')
    const b = cluster.start('b')
    let written = 0
    cluster.runUntil(() => a.node.inspect().moves.some(({ stage }) => stage === 'copy'))
    const [{ bucket }] = a.node.inspect().moves
    const mine = keys.filter((key) => cluster.stateOf(key, a.node)?.id === bucket)
    const news = (): string[] => {
      const names = Array.from({ length: 40 }, (_, i) => `new:${written * 40 + i}`)
      return names.filter((key) => cluster.stateOf(key, a.node)?.id === bucket)
    }
    while (!b.backups.includes(bucket) && written < 2000) {
      // Two items a turn are copied; about five are written.
      for (const key of [
        ...news(),
        mine[written % mine.length],
        mine[(written * 7) % mine.length]
      ]) {
        client.send('SET', key, `w${written}`)
      }
      written++
      cluster.run(1)
    }
    expect(written).toBeGreaterThan(10)
    expect(b.backups).toContain(bucket)
    cluster.run(500)
    const [one, other] = [a, b].map(({ node }) => node.buckets[bucket]!)
    expect(other.items.digest(false)).toEqual(one.items.digest(false))
    expect(other.seq).toBe(one.seq)
  })

  it('ends although the writes to other buckets of the same target fill the window by themselves', () => {
    const cluster = new MiniCluster({ copyWindowBytes: 1000 })
    const a = cluster.start('a')
    fill(cluster, a, 100)
    const b = cluster.start('b')
    const client = cluster.client(a)
    client.call('OC.ACKS', 'primary')
    cluster.runUntil(() => b.backups.length > 0)
    const copied = new Set(b.backups)
    const keys = Array.from({ length: 2000 }, (_, i) => `key:${i}`).filter((key) =>
      copied.has(cluster.stateOf(key, a.node)!.id)
    )
    for (let i = 0; i < 20_000 && b.held.length < 16; i++) {
      client.send('SET', keys[i % keys.length], 'x'.repeat(300))
      cluster.run(0.5)
    }
    expect(b.held).toHaveLength(16)
  })

  it('makes no write wait for the first beat of a node that has just joined', () => {
    const cluster = new MiniCluster({ copies: 1 })
    const a = cluster.start('a')
    const keys = fill(cluster, a, 100)
    const client = cluster.client(a)
    const b = cluster.start('b')
    cluster.runUntil(() => b.primaries.length > 0)
    const moved = keys.find((key) => cluster.stateOf(key, a.node) === undefined)!
    const startMs = cluster.now
    expect(client.call('SET', moved, 'x')).toBe('OK')
    expect(cluster.now - startMs).toBeLessThan(10)
  })

  it('gives way to clients, but for a copy that is lacking', () => {
    const lasts = (copies: number, moveShare: number): number => {
      const cluster = new MiniCluster({ ...SLOW, copies, moveShare })
      const a = cluster.start('a')
      const keys = fill(cluster, a, 600)
      const client = cluster.client(a)
      cluster.start('b')
      const startMs = cluster.now
      const isOver = (): boolean => cluster.nodes.get('b')!.held.length === (copies === 1 ? 8 : 16)
      for (let i = 0; i < 10_000 && !isOver(); i++) {
        client.send('GET', keys[i % keys.length])
        cluster.run(2)
      }
      expect(isOver()).toBe(true)
      return cluster.now - startMs
    }
    expect(lasts(1, 0.1)).toBeGreaterThan(5 * lasts(1, 1))
    expect(lasts(2, 0.1)).toBe(lasts(2, 1))
  })

  it('is not put off for ever by two nodes that ask each other at the same time', () => {
    // Equal delays and equal clocks: whatever both do, they do at the same moment.
    for (const delayMs of [1, 20, 30]) {
      const cluster = new MiniCluster({}, { delayMs, jitterMs: 0 })
      cluster.startAll('a', 'b', 'c')
      cluster.start('d')
      cluster.balance(30_000)
    }
  })
})

describe('a move that is cut off', () => {
  it('is given up when its target acknowledges nothing, although nobody waits for it any more', () => {
    const cluster = new MiniCluster({ policy: 'majority' })
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const keys = fill(cluster, a, 100)
    const d = cluster.start('d')
    const offering = (): MiniNode | undefined =>
      [a, b, c].find(({ node }) => node.inspect().moves.some(({ stage }) => stage === 'offer'))
    cluster.runUntil(() => offering() !== undefined)
    const source = offering()!
    const { bucket } = source.node.inspect().moves[0]
    const before = source.stagesOf(bucket).length - 1
    // The offer is on its way; nothing behind it arrives, but the target is still heard.
    cluster.onPost = (from, to) => !(from === source.name && to === d.name)
    cluster.run(4500)
    const stages = source.stagesOf(bucket).slice(before)
    expect(stages.slice(0, 4)).toEqual(['offer', 'copy', 'caught up', 'cancelled'])
    expect(stages).not.toContain('hand over')
    cluster.onPost = undefined
    cluster.balance()
    const client = cluster.client(a)
    for (const key of keys) expect(client.call('GET', key)).toBe(`v of ${key}`)
  })

  /** A bucket on its way from a to b. */
  function underWay(): { cluster: MiniCluster; a: MiniNode; b: MiniNode; bucket: number } {
    const cluster = new MiniCluster({ ...SLOW })
    const a = cluster.start('a')
    fill(cluster, a, 600)
    const b = cluster.start('b')
    cluster.runUntil(() => a.node.inspect().moves.some(({ stage }) => stage === 'copy'))
    cluster.run(3)
    const [{ bucket }] = a.node.inspect().moves
    return { cluster, a, b, bucket }
  }

  it('by the death of the target leaves no trace in the source', () => {
    const { cluster, a, b, bucket } = underWay()
    expect(traces(a)).not.toEqual([])
    expect(traces(b)).toEqual([`${bucket}: incoming`])
    b.kill()
    cluster.run(3000)
    expect(traces(a)).toEqual([])
    expect(a.stagesOf(bucket).at(-1)).toBe('cancelled')
    expect(a.node.inspect().moves).toEqual([])
    expect(a.node.view.transferring).toBe(false)
    expect(cluster.client(a).call('GET', 'key:1')).toBe('v of key:1')
    expect(cluster.differences(1)).toEqual([])
  })

  it('by a restart of the target begins anew and ends', () => {
    const { cluster, a, b } = underWay()
    b.kill()
    cluster.run(20)
    cluster.start('b')
    cluster.balance()
    expect(traces(a)).toEqual([])
    expect(cluster.differences()).toEqual([])
  })

  it('by the death of the source leaves no trace in the target', () => {
    const { cluster, a, b } = underWay()
    a.kill()
    cluster.run(3000)
    expect(traces(b)).toEqual([])
    expect(b.node.view.transferring).toBe(false)
  })

  it('by silence of both is given up by both, and begins anew', () => {
    const { cluster, a, b } = underWay()
    cluster.cut('a', 'b')
    cluster.run(3000)
    expect(traces(a)).toEqual([])
    expect(traces(b)).toEqual([])
    cluster.heal()
    cluster.run(500)
    cluster.balance()
    expect(cluster.differences()).toEqual([])
  })

  it('by a split is forgotten by both', () => {
    const { cluster, a, b, bucket } = underWay()
    const peer = b.node.peers.get(a.node.config.name)!
    b.node.peers.send(peer, { kind: 'rows', mask: 0xff, rows: [] }, cluster.now)
    b.input((node, now) => node.tick(now))
    cluster.run(20)
    expect(a.node.table.mask).toBe(0xff)
    // The first child has the number of its parent, and may be on its way by now.
    const ends = a.eventsOf('stage').filter(({ stage }) => stage === 'cancelled')
    expect(ends).toMatchObject([{ bucket, reason: 'the buckets are split' }])
    expect(b.eventsOf('split')).toHaveLength(1)
    cluster.run(500)
    cluster.balance(120_000)
    expect(traces(a)).toEqual([])
    expect(cluster.differences()).toEqual([])
  })
})
