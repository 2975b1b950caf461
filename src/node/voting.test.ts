import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'

function votersOf({ node }: MiniNode): string {
  const { voters, strict } = node.inspect().voters
  return `${voters.map(({ name }) => name).join('')}${strict ? ' strict' : ''}`
}

function startThree(): { cluster: MiniCluster; nodes: MiniNode[] } {
  const cluster = new MiniCluster({ policy: 'auto' })
  const nodes = cluster.startAll('a', 'b', 'c')
  cluster.runUntil(() => nodes.every((at) => votersOf(at) === 'abc'))
  cluster.runUntil(() => nodes.every(({ node }) => node.inspect().voters.settled))
  return { cluster, nodes }
}

describe('three that decide by majority because they are three', () => {
  it('do not stop when one of them is started again and again', () => {
    const { cluster, nodes } = startThree()
    const client = cluster.client(nodes[0])
    expect(client.call('SET', 'key', '0')).toBe('OK')
    for (let turn = 1; turn <= 4; turn++) {
      nodes[2].kill()
      // Sooner, later, and in the middle of becoming a voter once more.
      cluster.run(400 * turn)
      nodes[2] = cluster.start('c', { join: ['a'] })
      cluster.run(700)
      expect(client.call('SET', 'key', String(turn))).toBe('OK')
    }
    cluster.runUntil(() => nodes.every((at) => votersOf(at) === 'abc'))
    expect(client.call('GET', 'key')).toBe('4')
  })

  it('are never two of whom each decides alone', () => {
    const { cluster, nodes } = startThree()
    const [a, b] = nodes
    nodes[2].kill()
    cluster.run(1500)
    nodes[2] = cluster.start('c', { join: ['a'] })
    cluster.runUntil(() => votersOf(a) === 'ab strict' && votersOf(b) === 'ab strict')
    cluster.cut('a', 'b')
    cluster.run(3000)
    const promoted = [a, b].flatMap((at) => at.eventsOf('promoted'))
    expect(promoted.filter(({ instead }) => instead === 'a' || instead === 'b')).toEqual([])
    expect(a.node.mayServe() || b.node.mayServe()).toBe(false)
    cluster.heal()
    cluster.runUntil(() => nodes.every((at) => votersOf(at) === 'abc'))
  })

  it('become two that go on alone when the third leaves for good', () => {
    const { cluster, nodes } = startThree()
    nodes[2].input((node, now) => node.leave(now))
    cluster.runUntil(() => nodes[2].eventsOf('mayGo').length > 0)
    nodes[2].kill()
    cluster.runUntil(() => votersOf(nodes[0]) === 'ab')
    nodes[1].kill()
    const client = cluster.client(nodes[0])
    expect(client.call('SET', 'key', 'alone')).toBe('OK')
  })
})
