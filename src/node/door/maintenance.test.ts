import { describe, expect, it } from 'vitest'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'

/** Of the word that all is at rest. */
const NOWHERE = '0.0.0.0:0'

function slotsOf(ranges: string): number[] {
  return ranges.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
}

/** The topology that a client has who applies what it is told to what it asked for once. */
function follow(client: MiniClient, slots: string[]): void {
  const seen = new Set<number>()
  for (const [word, seq, moves] of client.pushes as [string, number, ReplyValue[]][]) {
    if (word !== 'SMIGRATED' || seen.has(seq)) continue
    seen.add(seq)
    for (const [source, target, ranges] of moves as [string, string, string][]) {
      for (const slot of slotsOf(ranges)) {
        expect(slots[slot]).toBe(source === NOWHERE ? target : source)
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
    cluster.run(3000)
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
    // The last word is for those who ask instead of reading, and the same from all nodes.
    const last = clients.map(({ pushes }) => pushes.at(-1))
    expect(last[0]?.[2]).toEqual([[NOWHERE, expect.anything(), expect.anything()]])
    expect(last).toEqual(clients.map(() => last[0]))
    const sources = clients[0].pushes
      .filter(([word]) => word === 'SMIGRATED')
      .flatMap(([, , moves]) => (moves as string[][]).map(([from]) => from))
    expect(sources.filter((source) => source === NOWHERE)).toHaveLength(1)
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

  it('may ask any node for the topology once it is told', () => {
    const cluster = new MiniCluster({}, { delayMs: 20, jitterMs: 30 })
    const nodes = cluster.startAll('a', 'b', 'c', 'd')
    const clients = nodes.slice(0, 3).map((node) => cluster.client(node))
    for (const client of clients) {
      client.call('HELLO', '3')
      client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')
    }
    nodes[3].input((node, now) => node.leave(now))
    const behind: string[] = []
    const counts = clients.map(() => 0)
    for (let step = 0; step < 5000; step++) {
      cluster.run(1)
      clients.forEach(({ pushes }, i) => {
        const told = pushes.filter(([word]) => word === 'SMIGRATED')
        const fresh = told.slice(counts[i])
        counts[i] = told.length
        if (fresh.length === 0) return
        const known = nodes.slice(0, 3).map((node) => topology(cluster.client(node)))
        for (const [, , moves] of fresh) {
          for (const [source, target, ranges] of moves as [string, string, string][]) {
            const [slot] = slotsOf(ranges)
            if (known.some((slots) => slots[slot] === source)) behind.push(`${ranges} at ${target}`)
          }
        }
      })
    }
    expect(Math.min(...counts)).toBeGreaterThan(2)
    expect(behind).toEqual([])
  })

  it('is redirected only when it has had the time to learn where slots went', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b', 'c')
    const client = cluster.client(a)
    client.call('HELLO', '3')
    client.call('CLIENT', 'MAINT_NOTIFICATIONS', 'ON')
    topology(client)
    const keys = cluster.keysOn(a, 20)
    for (const key of keys) client.call('SET', key, 'x')
    const read = (): ReplyValue[] => keys.map((key) => client.call('GET', key))
    cluster.start('d')
    const rest = (): boolean =>
      client.pushes.some(([, , moves]) => (moves as string[][])[0][0] === NOWHERE)
    for (let step = 0; step < 1000 && !rest(); step++) {
      const seen = read()
      if (!rest()) expect(seen).toEqual(keys.map(() => 'x'))
      cluster.run(10)
    }
    expect(keys.some((key) => cluster.primaryOf(key) !== a)).toBe(true)
    expect(read().some((reply) => reply instanceof RespError && reply.code === 'MOVED')).toBe(true)
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
