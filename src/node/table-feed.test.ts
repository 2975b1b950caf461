import { describe, expect, it } from 'vitest'
import { Topology } from '../client/topology.js'
import { ReplyParser } from '../wire/resp/reply-parser.js'
import type { ReplyValue } from '../wire/resp/reply-value.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../test/support/mini-cluster.js'
import { FOLLOWERS_MAX, TableFeed } from './table-feed.js'

/** The cluster's addresses are names; a client wants ports. */
const address = (name: string): string => `${name}:1`

function replyOf(feed: TableFeed): ReplyValue[] {
  const writer = new ReplyWriter()
  feed.reply(writer)
  let reply: ReplyValue = null
  new ReplyParser({ onReply: (value) => (reply = value) }).push(
    writer.bytes.slice(0, writer.length)
  )
  return reply as unknown as ReplyValue[]
}

/** A node's feed, a client that follows it, and what that client knows. */
class Follower {
  readonly feed: TableFeed
  readonly topology = new Topology()
  readonly client: MiniClient
  readonly #node: MiniNode

  constructor(cluster: MiniCluster, at: MiniNode) {
    this.#node = at
    this.feed = new TableFeed(at.node)
    this.client = cluster.client(at)
    expect(this.feed.add(this.client.session)).toBe(true)
    this.topology.learn(replyOf(this.feed))
  }

  /** Takes in what was pushed, and gives how many rows that was. */
  follow(): number {
    this.feed.rowsChanged()
    const rows = this.client.pushes.map((push) => this.topology.learn(push).length)
    this.client.pushes.length = 0
    return rows.reduce((sum, count) => sum + count, 0)
  }

  expectSame(): void {
    const { table } = this.#node.node
    expect(this.topology.mask).toBe(table.mask)
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      const { primary, backups } = table.row(bucket)
      const holders = [primary, ...backups].map((name) => (name === null ? undefined : name))
      const known = holders.map((_, place) =>
        this.topology.addressOf(this.topology.holderAt(bucket, place))
      )
      expect(known).toEqual(holders)
      expect(this.topology.epochOf(bucket)).toBe(table.epochOf(bucket))
    }
  }
}

describe('the table of a follower', () => {
  it('is whole at once, and follows joins, deaths and moves by what changed', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b')
    const follower = new Follower(cluster, a)
    follower.expectSame()
    expect(follower.follow()).toBe(0)
    expect(follower.client.pushes).toEqual([])
    const c = cluster.start('c')
    cluster.run(30)
    follower.follow()
    cluster.balance()
    const rows = follower.follow()
    expect(rows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(17)
    follower.expectSame()
    expect([...follower.topology.holders].sort()).toEqual(['a', 'b', 'c'])
    c.kill()
    cluster.run(3000)
    cluster.balance()
    follower.follow()
    follower.expectSame()
    expect([...follower.topology.holders].sort()).toEqual(['a', 'b'])
  })

  it('expands by itself when the buckets are split', () => {
    const cluster = new MiniCluster({ splitAt: 6 })
    const a = cluster.start('a')
    const follower = new Follower(cluster, a)
    expect(follower.topology.mask).toBe(15)
    for (const name of ['b', 'c', 'd', 'e', 'f']) cluster.start(name)
    cluster.runUntil(() => a.node.table.mask === 255)
    follower.follow()
    follower.expectSame()
    cluster.balance()
    follower.follow()
    follower.expectSame()
  })

  it('is told to those who are there when others come and go', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b')
    const feed = new TableFeed(a.node)
    const [first, second] = [cluster.client(a), cluster.client(a)]
    feed.add(first.session)
    cluster.start('c')
    cluster.balance()
    // What the newcomer gets with its reply the other one is told now.
    feed.add(second.session)
    expect([first.pushes.length, second.pushes.length]).toEqual([1, 0])
    feed.remove(first.session)
    cluster.nodes.get('c')?.kill()
    cluster.run(3000)
    cluster.balance()
    feed.rowsChanged()
    expect([first.pushes.length, second.pushes.length]).toEqual([1, 1])
  })

  it('has a limit of followers', () => {
    const cluster = new MiniCluster()
    const feed = new TableFeed(cluster.start('a').node)
    for (let session = 0; session < FOLLOWERS_MAX; session++) expect(feed.add(session)).toBe(true)
    expect(feed.add(FOLLOWERS_MAX)).toBe(false)
    expect(feed.add(0)).toBe(true)
  })
})

describe('a client', () => {
  it('takes messages in any order, and keeps the newer row', () => {
    const topology = new Topology()
    const message = (epoch: number, primary: string, mask = 15): ReplyValue[] => {
      const nodes = [primary, address(primary), 'z', address('z')]
      return ['oc.table', 'c1', 'redis', mask, nodes, [[3, epoch, 0, 1]]]
    }
    expect(topology.learn(message(5, 'a'))).toEqual([3])
    expect(topology.learn(message(4, 'b'))).toEqual([])
    expect(topology.addressOf(topology.holderAt(3, 0))).toBe('a:1')
    // A row of the larger mask, then one of the smaller, which speaks for all 16 children.
    expect(topology.learn(message(6, 'b', 255))).toEqual([3])
    expect(topology.mask).toBe(255)
    expect(topology.addressOf(topology.holderAt(19, 0))).toBe('a:1')
    expect(topology.learn(message(7, 'c'))).toHaveLength(16)
    expect(topology.addressOf(topology.holderAt(19, 0))).toBe('c:1')
  })

  it('begins anew with another cluster, and learns nothing from a node without one', () => {
    const topology = new Topology()
    topology.learn(['oc.table', 'c1', 'redis', 15, ['a', 'a:1'], [[3, 50, 0]]])
    expect(topology.learn(['oc.table', '00000000', 'redis', 255, [], []])).toEqual([])
    expect(topology.mask).toBe(15)
    expect(topology.learn(['oc.table', 'c2', 'md5', 255, ['b', 'b:1'], [[3, 1, 0]]])).toEqual([3])
    expect(topology.addressOf(topology.holderAt(3, 0))).toBe('b:1')
  })

  it.each([
    ['a mask that is none', ['oc.table', 'c', 'redis', 14, [], []]],
    ['a hash that is none', ['oc.table', 'c', 'sha', 15, [], []]],
    ['a bucket that is none', ['oc.table', 'c', 'redis', 15, ['a', 'a:1'], [[16, 1, 0]]]],
    ['a node that is none', ['oc.table', 'c', 'redis', 15, ['a', 'a:1'], [[1, 1, 1]]]],
    ['two copies on a node', ['oc.table', 'c', 'redis', 15, ['a', 'a:1'], [[1, 1, 0, 0]]]],
    ['a name that is none', ['oc.table', 'c', 'redis', 15, ['a b', 'a:1'], [[1, 1, 0]]]],
    ['nothing', ['oc.table']]
  ] as [string, ReplyValue[]][])('refuses %s', (_, message) => {
    expect(() => new Topology().learn(message)).toThrow()
  })
})
