import { describe, expect, it } from 'vitest'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'

function slotsOf(ranges: string): [number, number] {
  const [first, last = first] = ranges.split('-')
  return [Number(first), Number(last)]
}

/** The topology that a client has who applies what it is told to what it asked for once. */
function follow(client: MiniClient, slots: string[]): void {
  const seen = new Set<number>()
  for (const [word, seq, moves] of client.pushes as [string, number, ReplyValue[]][]) {
    if (word !== 'SMIGRATED' || seen.has(seq)) continue
    seen.add(seq)
    for (const [source, target, ranges] of moves as [string, string, string][]) {
      const [first, last] = slotsOf(ranges)
      for (let slot = first; slot <= last; slot++) {
        expect(slots[slot]).toBe(source)
        slots[slot] = target
      }
    }
  }
}

function topology(client: MiniClient): string[] {
  const slots: string[] = []
  const rows = client.call('CLUSTER', 'SLOTS') as [number, number, [string, number, string]][]
  for (const [first, last, [host]] of rows) {
    for (let slot = first; slot <= last; slot++) slots[slot] = host
  }
  return slots
}

describe('a client that follows the topology', () => {
  it('knows where every slot is from what it is told, at whichever node', () => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b', 'c')
    const clients = nodes.map((node) => cluster.client(node))
    for (const client of clients) {
      client.call('HELLO', '3')
      const option = ['moving-endpoint-type', 'external-ip']
      expect(client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON', ...option)).toBe('OK')
    }
    const known = clients.map(topology)
    cluster.start('d')
    cluster.balance()
    cluster.run(500)
    const now = topology(cluster.client(nodes[0]))
    expect(now).not.toEqual(known[0])
    clients.forEach((client, i) => {
      follow(client, known[i])
      expect(known[i]).toEqual(now)
    })
    const seqs = clients.map(({ pushes }) =>
      pushes.filter(([word]) => word === 'SMIGRATED').map(([, seq]) => seq as number)
    )
    expect(new Set(seqs[1])).toEqual(new Set(seqs[0]))
    expect(new Set(seqs[0]).size).toBe(seqs[0].length)
    expect(clients.some(({ pushes }) => pushes.some(([word]) => word === 'SMIGRATING'))).toBe(true)
  })

  it('is told who took over from a node that died', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const clients = [a, b].map((node) => cluster.client(node))
    for (const client of clients) {
      client.call('HELLO', '3')
      client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')
    }
    const known = clients.map(topology)
    c.kill()
    cluster.run(5000)
    cluster.balance()
    const now = topology(cluster.client(a))
    expect(now).not.toContain('c')
    clients.forEach((client, i) => {
      follow(client, known[i])
      expect(known[i]).toEqual(now)
    })
  })

  it('has time to connect to a node that is new to it', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b', 'c')
    const client = cluster.client(a)
    client.call('HELLO', '3')
    client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')
    const told = (): number => client.pushes.filter(([word]) => word === 'SMIGRATED').length
    cluster.start('d')
    cluster.runUntil(() => told() > 0)
    expect(told()).toBe(1)
    cluster.run(200)
    expect(told()).toBe(1)
    cluster.runUntil(() => told() > 1, 200)
  })

  it('is told nothing in RESP2, or when it does not want to be', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    expect(client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')).toBeInstanceOf(RespError)
    client.call('HELLO', '3')
    client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')
    client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'OFF')
    cluster.start('c')
    cluster.balance()
    expect(client.pushes).toEqual([])
  })
})
