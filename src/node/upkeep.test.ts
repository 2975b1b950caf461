import { describe, expect, it } from 'vitest'
import { MiniCluster } from '../../test/support/mini-cluster.js'

const KEYS = 3000
const TURN_MAX = 256

describe('deletions that every copy has seen', () => {
  it('are forgotten a bounded number a turn, on both copies', () => {
    const cluster = new MiniCluster({ policy: 'majority' })
    const nodes = cluster.startAll('a', 'b')
    cluster.balance()
    const client = cluster.client(nodes[0])
    for (let i = 0; i < KEYS; i++) client.send('SET', `key:${i}`, 'value')
    cluster.runUntil(() => client.replies.length === KEYS)
    for (let i = 0; i < KEYS; i++) client.send('DEL', `key:${i}`)
    const left = (): number[] => nodes.map(({ node }) => node.store.tombstones)
    let before = left()
    let [most, peak] = [0, 0]
    for (let ms = 0; ms < 4000; ms++) {
      cluster.run(1)
      const now = left()
      most = Math.max(most, ...now.map((count, i) => before[i] - count))
      peak = Math.max(peak, ...now)
      before = now
    }
    expect(before).toEqual([0, 0])
    expect(client.replies.length).toBe(2 * KEYS)
    expect(peak).toBeGreaterThan(4 * TURN_MAX)
    expect(most).toBeLessThanOrEqual(TURN_MAX)
  })
})

describe('keys whose time is over', () => {
  it('are gone soon however many they are, a bounded number a turn', () => {
    const cluster = new MiniCluster()
    const [at] = cluster.startAll('a')
    const client = cluster.client(at)
    for (let i = 0; i < 10 * KEYS; i++) client.send('SET', `key:${i}`, 'value', 'PX', '100')
    const { store } = at.node
    expect(store.items).toBe(10 * KEYS)
    cluster.run(100)
    let [before, most] = [store.items, 0]
    for (let ms = 0; ms < 2000; ms++) {
      cluster.run(1)
      most = Math.max(most, before - store.items)
      before = store.items
    }
    expect(before).toBe(0)
    expect(most).toBeLessThanOrEqual(1024)
  })
})
