import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../../core/bytes.js'
import { redisHash } from '../../core/hash/placement-hash.js'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniNode } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; nodes: MiniNode[] } {
  const cluster = new MiniCluster()
  const start = (name: string, join: string[]): MiniNode =>
    cluster.start(name, { join, replicaAddress: `${name}.replica:7` })
  const nodes = [start('a', []), start('b', ['a']), start('c', ['a'])]
  cluster.balance()
  return { cluster, nodes }
}

function roleOf(at: MiniNode, key: string): string | undefined {
  const hash = redisHash.hash(latin1Bytes(key), 0, key.length)
  return at.node.buckets[hash & at.node.table.mask]?.role
}

/** A key whose copy at the node has this role. */
function keyWith(at: MiniNode, role: string | undefined): string {
  for (let i = 0; ; i++) if (roleOf(at, `key:${i}`) === role) return `key:${i}`
}

/** Of a client that came by the second port. */
const SECOND = { from: '1.2.3.4:5', to: '1.2.3.4:7', asReplica: true }

describe('the port at which backups answer', () => {
  it('answers reads of what is there, after READONLY, and sends everything else to the primary', () => {
    const { cluster, nodes } = trio()
    const [a] = nodes
    const writer = cluster.client(a)
    const [kept, absent] = [keyWith(a, 'backup'), keyWith(a, undefined)]
    for (const key of [kept, absent]) expect(writer.call('SET', key, 'value')).toBe('OK')
    const reader = cluster.client(a, SECOND)
    expect(reader.call('GET', kept)).toBeInstanceOf(RespError)
    expect((reader.replies.at(-1) as RespError).text).toMatch(/^MOVED \d+ [bc]$/)
    expect(reader.call('READONLY')).toBe('OK')
    expect(reader.call('GET', kept)).toBe('value')
    expect((reader.call('GET', absent) as RespError).text).toMatch(/^MOVED/)
    expect((reader.call('SET', kept, 'x') as RespError).text).toMatch(/^MOVED/)
    expect(reader.call('HGET', kept, 'x')).toBeInstanceOf(RespError)
    expect(reader.call('READWRITE')).toBe('OK')
    expect((reader.call('GET', kept) as RespError).text).toMatch(/^MOVED/)
    expect(reader.call('INFO', 'replication')).toMatch(/role:slave/)
  })

  it('shows every write that was acknowledged, and what has expired no more', () => {
    const { cluster, nodes } = trio()
    const [a] = nodes
    const writer = cluster.client(nodes[1])
    const key = keyWith(a, 'backup')
    const reader = cluster.client(a, SECOND)
    reader.call('READONLY')
    for (let i = 0; i < 50; i++) {
      writer.call('SET', key, String(i), 'PX', '100')
      expect(reader.call('GET', key)).toBe(String(i))
    }
    cluster.run(150)
    expect(reader.call('GET', key)).toBeNull()
    expect(cluster.differences()).toEqual([])
  })

  it('is named behind each primary, at all nodes, as long as its node can be heard', () => {
    const { cluster, nodes } = trio()
    const ports = (at: MiniNode): Set<string> => {
      const slots = cluster.client(at).call('CLUSTER', 'SLOTS') as ReplyValue[][]
      return new Set(
        slots.flatMap(([, , , ...replicas]) => replicas.map((replica) => (replica as [string])[0]))
      )
    }
    for (const node of nodes) {
      expect(ports(node)).toEqual(new Set(['a.replica', 'b.replica', 'c.replica']))
    }
    nodes[2].kill()
    cluster.run(5000)
    expect(ports(nodes[0])).toEqual(new Set(['a.replica', 'b.replica']))
  })
})
