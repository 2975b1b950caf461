// Who takes a bucket over from a dead primary, and what it may tell before the other backups stand where it does.
import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniClient, type MiniNode } from '../../test/support/mini-cluster.js'

interface Scene {
  readonly cluster: MiniCluster
  /** A key, and who holds it: the primary, the one that has all of it, and the one that lacks a write. */
  readonly key: string
  readonly primary: MiniNode
  readonly heir: MiniNode
  readonly other: MiniNode
  /** Of a node that holds none of it. */
  readonly client: MiniClient
}

const NAMES = ['a', 'b', 'c', 'd', 'e']

/** The primary dies with a write that only one of its two backups has; the other is heard and hears nothing. */
function scene(): Scene {
  const cluster = new MiniCluster({ policy: 'majority', copies: 3, leaseMs: 600 })
  const nodes = cluster.startAll(...NAMES)
  cluster.runUntil(() => nodes[0].node.inspect().voters.voters.length === NAMES.length)
  cluster.run(3000)
  const [primary] = nodes
  const [key] = cluster.keysOn(primary, 1)
  expect(cluster.client(primary).call('INCR', key)).toBe(1)
  const holders = nodes.filter(({ node }) => cluster.stateOf(key, node) !== undefined)
  const [heir, other] = holders.filter((at) => at !== primary)
  for (const name of NAMES) if (name !== other.name) cluster.cutOneWay(name, other.name)
  cluster.client(primary).send('INCR', key)
  cluster.run(20)
  primary.kill()
  const [stranger] = nodes.filter((at) => !holders.includes(at))
  return { cluster, key, primary, heir, other, client: cluster.client(stranger) }
}

describe('a backup that takes over', () => {
  it('shows nobody what another backup of its row has not got', () => {
    const { cluster, key, heir, other, client } = scene()
    cluster.runUntil(() => cluster.stateOf(key, heir.node)?.role === 'primary')
    expect(cluster.stateOf(key, heir.node)?.backups.map(({ name }) => name)).toContain(other.name)
    client.send('GET', key)
    cluster.run(100)
    expect(client.replies).toEqual([])
    cluster.heal()
    cluster.runUntil(() => client.replies.length === 1)
    expect(client.replies).toEqual(['2'])
    // Whoever is behind is struck before, and gets a fresh copy.
    expect(heir.eventsOf('row').map(({ reason }) => reason)).toContain(`${other.name} is behind`)
  })

  it('has told nothing that is lost if it dies before the other has caught up', () => {
    const { cluster, key, heir, other, client } = scene()
    cluster.runUntil(() => cluster.stateOf(key, heir.node)?.role === 'primary')
    client.send('GET', key)
    cluster.run(50)
    heir.kill()
    cluster.heal()
    cluster.runUntil(() => cluster.stateOf(key, other.node)?.role === 'primary')
    cluster.runUntil(() => client.replies.length === 1)
    expect(client.replies).toEqual(['1'])
    expect(client.call('INCR', key)).toBe(2)
  })
})
