import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'
import { nodeName } from '../core/ids.js'
import { BucketState } from './bucket-state.js'
import type { Message } from '../wire/peer/message.js'

const KEYS = Array.from({ length: 40 }, (_, i) => `key:${i}`)

/** Two nodes that were cut apart, each of which wrote all keys, this much later than the other. */
function parted(laterMs: number): { nodes: MiniNode[]; values: unknown[]; conflicts: number } {
  const cluster = new MiniCluster({ policy: 'available' })
  const nodes = cluster.startAll('a', 'b')
  const [one, two] = nodes.map((at) => cluster.client(at))
  for (const key of KEYS) expect(one.call('SET', key, 'before')).toBe('OK')
  cluster.run(2000)
  cluster.cut('a', 'b')
  cluster.run(1500)
  for (const key of KEYS) expect(one.call('SET', key, 'one')).toBe('OK')
  cluster.run(laterMs)
  for (const key of KEYS) expect(two.call('SET', key, 'two')).toBe('OK')
  expect(one.call('SET', 'only', 'one')).toBe('OK')
  cluster.heal()
  cluster.run(5000)
  expect(cluster.differences()).toEqual([])
  expect(two.call('GET', 'only')).toBe('one')
  const values = KEYS.map((key) => one.call('GET', key))
  return { nodes, values, conflicts: nodes.flatMap((at) => at.eventsOf('conflict')).length }
}

describe('two sides of a cut', () => {
  it('agree on the newest value, and tell every key that both wrote', () => {
    const { values, conflicts } = parted(50)
    expect(new Set(values)).toEqual(new Set(['two']))
    expect(conflicts).toBe(KEYS.length)
  })

  it('tell it, too, where two clocks gave the same version to two values', () => {
    const { conflicts } = parted(0)
    expect(conflicts).toBe(KEYS.length)
  })
})

describe('a node that is told that copies went apart', () => {
  it('keeps deletions for a while although it misses nobody itself', () => {
    const cluster = new MiniCluster({ policy: 'available' })
    const [a] = cluster.startAll('a', 'b')
    cluster.run(12_000)
    const [key] = cluster.keysOn(a, 1)
    const client = cluster.client(a)
    expect(client.call('SET', key, 'value')).toBe('OK')
    cluster.stateOf(key, a.node)?.part(1)
    expect(client.call('DEL', key)).toBe(1)
    cluster.run(5000)
    const kept = (): (number | undefined)[] =>
      cluster.running.map(({ node }) => cluster.stateOf(key, node)?.items.tombstones)
    expect(kept()).toEqual([1, 1])
    cluster.run(12_000)
    expect(kept()).toEqual([0, 0])
  })
})

describe('what one side gives the other', () => {
  it('is kept by the giver until the other has it on all its copies', () => {
    const cluster = new MiniCluster({ policy: 'available' })
    const nodes = cluster.startAll('a', 'b', 'c')
    const clients = nodes.map((at) => cluster.client(at))
    for (const key of KEYS) expect(clients[0].call('SET', key, 'before')).toBe('OK')
    cluster.balance()
    cluster.cut('a', 'b')
    cluster.cut('a', 'c')
    cluster.run(1500)
    const alone = KEYS.filter((key) => cluster.stateOf(key, nodes[0].node)?.role === 'primary')
    expect(alone.length).toBeGreaterThan(0)
    for (const key of alone) expect(clients[0].call('SET', key, 'alone')).toBe('OK')
    // The two on the other side can both be heard, and hear each other no more.
    cluster.heal()
    cluster.cut('b', 'c')
    cluster.run(300)
    const lost = alone.filter((key) => {
      const [own, ...others] = nodes.map(({ node }) => cluster.stateOf(key, node))
      // Its writes have numbers: the copy that is behind has not taken in what was given.
      return own === undefined && new Set(others.map((state) => state?.seq)).size > 1
    })
    expect(lost).toEqual([])
    cluster.heal()
    cluster.balance()
    expect(cluster.differences()).toEqual([])
    for (const key of alone) expect(clients[1].call('GET', key)).toBe('alone')
  })
})

/** Three nodes, and a key whose primary is the first of them. */
function three(): { cluster: MiniCluster; nodes: MiniNode[]; key: string; bucket: number } {
  const cluster = new MiniCluster({ policy: 'available' })
  const nodes = cluster.startAll('a', 'b', 'c')
  cluster.balance()
  const [key] = cluster.keysOn(nodes[0], 1)
  expect(cluster.client(nodes[0]).call('SET', key, 'before')).toBe('OK')
  const bucket = cluster.stateOf(key, nodes[0].node)?.id ?? -1
  return { cluster, nodes, key, bucket }
}

/** One node says something to another as if it had reason to. */
function say(from: MiniNode, to: MiniNode, message: Message): void {
  from.input((node, now) => {
    const peer = node.peers.get(nodeName(to.name))
    if (peer !== undefined) node.peers.send(peer, message, now)
  })
}

describe('a node that is named as primary and gave its copy away', () => {
  it('goes on with the backups that the row names', () => {
    const { cluster, nodes, key, bucket } = three()
    const [a, b, c] = nodes
    const { mask } = a.node.table
    const [backup] = a.node.table.row(bucket).backups
    a.node.buckets[bucket] = undefined
    a.node.store.drop(bucket)
    const giver = backup === 'b' ? c : b
    say(giver, a, { kind: 'merge', bucket, mask, last: true, payload: new Uint8Array(0) })
    cluster.run(5)
    expect(cluster.stateOf(key, a.node)?.backups.map(({ name }) => name)).toEqual([backup])
    expect(cluster.client(a).call('SET', key, 'after')).toBe('OK')
    cluster.balance()
    expect(cluster.differences()).toEqual([])
  })
})

describe('a copy that is to be merged, then not, then again', () => {
  it('is given from its beginning', () => {
    const { cluster, nodes, key, bucket } = three()
    const [a, b, c] = nodes
    const { mask } = a.node.table
    const other = a.node.table.row(bucket).backups[0] === 'b' ? c : b
    const { epoch } = a.node.table.row(bucket)
    const rowOf = (primary: MiniNode, later: number): Message => {
      const row = { epoch: epoch + later, primary: nodeName(primary.name), backups: [] }
      return { kind: 'rows', mask, rows: [{ bucket, row }] }
    }
    // Whoever it would be given to does not answer.
    say(other, a, rowOf(other, 1))
    cluster.onPost = (from, to) => !(from === 'a' && to === other.name)
    cluster.runUntil(() => cluster.stateOf(key, a.node)?.items.copying === true)
    say(other, a, rowOf(a, 2))
    say(other, a, rowOf(other, 3))
    cluster.run(500)
    expect(cluster.stateOf(key, a.node)?.role).toBe('merging')
  })
})

describe('a node that may take over what it is about to give away', () => {
  it('keeps its copy until that is decided', () => {
    const { cluster, nodes, key, bucket } = three()
    const [a, b, c] = nodes
    const { mask } = a.node.table
    const { epoch, backups } = a.node.table.row(bucket)
    const other = backups[0] === 'b' ? c : b
    const row = { epoch: epoch + 1, primary: nodeName(other.name), backups: [] }
    // Nobody votes, and whoever takes the copy answers only below.
    cluster.onPost = (from) => from !== 'a'
    say(other, a, { kind: 'rows', mask, rows: [{ bucket, row }] })
    cluster.runUntil(() => cluster.stateOf(key, a.node)?.items.copying === true)
    a.input((node) => node.changeRows([{ bucket, holders: [node.self] }], 'it takes over'))
    expect(a.node.isDeciding(bucket)).toBe(true)
    say(other, a, { kind: 'merged', bucket, mask, done: true })
    cluster.run(20)
    expect(cluster.stateOf(key, a.node)?.role).toBe('merging')
  })
})

describe('a node that has said that it goes', () => {
  it('takes nothing in any more', () => {
    const { cluster, nodes, bucket } = three()
    const [a, b] = nodes
    a.input((node, now) => node.leave(now))
    cluster.runUntil(() => a.eventsOf('mayGo').length > 0)
    const { mask } = a.node.table
    const row = { epoch: a.node.table.row(bucket).epoch + 1, primary: nodeName('a'), backups: [] }
    say(b, a, { kind: 'rows', mask, rows: [{ bucket, row }] })
    say(b, a, { kind: 'merge', bucket, mask, last: true, payload: new Uint8Array(0) })
    cluster.run(20)
    expect(a.node.table.row(bucket).primary).toBe('a')
    expect(a.node.buckets[bucket]).toBeUndefined()
  })
})

describe('a backup that the row names and that was never given anything', () => {
  it('is struck and copied anew, though it has had as many writes', () => {
    const { cluster, nodes, key, bucket } = three()
    const [a, b, c] = nodes
    const { mask } = a.node.table
    const { epoch, backups } = a.node.table.row(bucket)
    const stranger = backups[0] === 'b' ? c : b
    const row = { epoch: epoch + 1, primary: nodeName('a'), backups: [nodeName(stranger.name)] }
    const items = stranger.node.store.open(bucket)
    const copy = new BucketState(items, { mask, role: 'backup', epoch: row.epoch })
    copy.source = nodeName('a')
    copy.seq = cluster.stateOf(key, a.node)?.seq ?? 0
    stranger.node.buckets[bucket] = copy
    for (const at of [a, stranger]) {
      say(at === a ? stranger : a, at, { kind: 'rows', mask, rows: [{ bucket, row }] })
    }
    cluster.run(100)
    expect(stranger.node.buckets[bucket]).not.toBe(copy)
    cluster.balance()
    expect(cluster.differences()).toEqual([])
  })
})
