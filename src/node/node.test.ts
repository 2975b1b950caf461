import { describe, expect, it } from 'vitest'
import { nodeName } from '../core/ids.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../test/support/mini-cluster.js'

const KEYS = Array.from({ length: 100 }, (_, i) => `key:${i}`)

function fill(client: MiniClient, keys: readonly string[] = KEYS, value = 'v'): void {
  for (const key of keys) expect(client.call('SET', key, `${value} of ${key}`)).toBe('OK')
}

function expectAll(client: MiniClient, keys: readonly string[] = KEYS, value = 'v'): void {
  for (const key of keys) expect(client.call('GET', key)).toBe(`${value} of ${key}`)
}

/** Two balanced nodes, and a key whose primary is on the first. */
function pair(): { cluster: MiniCluster; a: MiniNode; b: MiniNode; key: string } {
  const cluster = new MiniCluster()
  const [a, b] = cluster.startAll('a', 'b')
  const [key] = cluster.keysOn(a, 1)
  return { cluster, a, b, key }
}

describe('serving', () => {
  it('is done by one node alone', () => {
    const cluster = new MiniCluster()
    const a = cluster.start('a')
    const client = cluster.client(a)
    fill(client)
    expectAll(client)
    expect(client.call('GET', 'nothing')).toBe(null)
    expect(client.call('PING')).toBe('PONG')
    expect(a.primaries).toHaveLength(16)
  })

  it('is shared with a second node, which gets all backups and half the primaries', () => {
    const cluster = new MiniCluster()
    const a = cluster.start('a')
    const client = cluster.client(a)
    fill(client)
    const b = cluster.start('b')
    cluster.balance()
    expect([a.primaries.length, a.backups.length]).toEqual([8, 8])
    expect([b.primaries.length, b.backups.length]).toEqual([8, 8])
    expect(cluster.differences()).toEqual([])
    expectAll(client)
  })

  it('is possible through any node', () => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b', 'c')
    nodes.forEach((at, i) => fill(cluster.client(at), KEYS, `value ${i}`))
    for (const at of nodes) expectAll(cluster.client(at), KEYS, 'value 2')
    cluster.run(100)
    expect(cluster.differences()).toEqual([])
  })

  it('answers a pipeline over many nodes in order, however it is cut', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b', 'c')
    const client = cluster.client(a)
    const text = KEYS.map((key) => `*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$1\r\n1\r\n`)
    const bytes = new TextEncoder().encode(text.join('') + 'INCR key:7\r\nGET "key:7"\r\n')
    for (let at = 0; at < bytes.length; at += 11) client.sendRaw(bytes.slice(at, at + 11))
    cluster.runUntil(() => client.replies.length === KEYS.length + 2)
    expect(client.replies).toEqual([...KEYS.map(() => 'OK'), 2, '2'])
  })

  it('refuses nothing and forgets nothing while a session closes in the middle', () => {
    const { cluster, a, key } = pair()
    const client = cluster.client(a)
    client.send('SET', key, '1')
    client.close()
    cluster.run(50)
    expect(client.replies).toEqual([])
    expect(cluster.client(a).call('GET', key)).toBe('1')
  })
})

describe('copies', () => {
  it('hold a write back until the backup has it', () => {
    const { cluster, a, key } = pair()
    const client = cluster.client(a)
    cluster.cut('a', 'b')
    client.send('SET', key, 'new')
    cluster.run(600)
    expect(client.replies).toEqual([])
    cluster.heal()
    cluster.run(300)
    expect(client.replies).toEqual(['OK'])
    expect(a.eventsOf('died')).toEqual([])
  })

  it('do not show a write that is not acknowledged to any reader', () => {
    const { cluster, a, key } = pair()
    const [, other] = cluster.keysOn(a, 2)
    const [writer, reader, bystander] = [a, a, a].map((at) => cluster.client(at))
    expect(writer.call('SET', key, 'old')).toBe('OK')
    cluster.cut('a', 'b')
    writer.send('SET', key, 'new')
    reader.send('GET', key)
    bystander.send('GET', other)
    const several = cluster.client(a)
    several.send('MGET', other, key)
    cluster.run(600)
    expect(writer.replies).toEqual(['OK'])
    expect(reader.replies).toEqual([])
    expect(several.replies).toEqual([])
    expect(bystander.replies).toEqual([null])
    cluster.heal()
    cluster.run(300)
    expect(reader.replies).toEqual(['new'])
    expect(several.replies).toEqual([[null, 'new']])
  })

  it('are not waited for by those who ask for acks=primary, but by those who read', () => {
    const { cluster, a, key } = pair()
    const [writer, reader] = [a, a].map((at) => cluster.client(at))
    expect(writer.call('OC.ACKS', 'primary')).toBe('OK')
    cluster.cut('a', 'b')
    writer.send('SET', key, 'new')
    expect(writer.replies).toEqual(['OK', 'OK'])
    reader.send('GET', key)
    cluster.run(600)
    expect(reader.replies).toEqual([])
    cluster.heal()
    cluster.run(300)
    expect(reader.replies).toEqual(['new'])
  })

  it('stop the writers when a backup owes too much, and let them go on', () => {
    const cluster = new MiniCluster({ streamWindowBytes: 2000 })
    const [a] = cluster.startAll('a', 'b')
    const keys = cluster.keysOn(a, 50)
    const client = cluster.client(a)
    client.call('OC.ACKS', 'primary')
    cluster.cut('a', 'b')
    for (const key of keys) {
      client.send('SET', key, 'x'.repeat(200))
      cluster.run(1)
    }
    expect(client.replies.length).toBeGreaterThan(5)
    expect(client.replies.length).toBeLessThan(20)
    cluster.heal()
    cluster.run(1000)
    expect(client.replies).toHaveLength(51)
    expect(cluster.differences()).toEqual([])
  })

  it('forget deletions everywhere once all have seen them', () => {
    const { cluster, a, b } = pair()
    const client = cluster.client(a)
    fill(client)
    for (const key of KEYS) expect(client.call('DEL', key)).toBe(1)
    const buried = (at: MiniNode): number =>
      at.held.reduce((sum, { items }) => sum + items.tombstones, 0)
    expect([buried(a), buried(b)]).toEqual([100, 100])
    cluster.run(2500)
    expect([buried(a), buried(b)]).toEqual([0, 0])
  })

  it('keep a deletion while a backup has not seen it', () => {
    const { cluster, a, key } = pair()
    const client = cluster.client(a)
    client.call('SET', key, 'v')
    client.call('OC.ACKS', 'primary')
    cluster.cut('a', 'b')
    expect(client.call('DEL', key)).toBe(1)
    const { items } = cluster.stateOf(key, a.node)!
    cluster.run(900)
    expect(items.tombstones).toBe(1)
  })

  it('lose what has expired, all of them, although nobody reads it', () => {
    const { cluster, a, b } = pair()
    const client = cluster.client(a)
    for (const key of KEYS) client.call('SET', key, 'v', 'PX', '700')
    const items = (at: MiniNode): number => at.held.reduce((sum, { items }) => sum + items.items, 0)
    expect([items(a), items(b)]).toEqual([100, 100])
    cluster.run(3000)
    expect([items(a), items(b)]).toEqual([0, 0])
    expect(cluster.differences()).toEqual([])
  })
})

describe('a node that fails', () => {
  it('is replaced by its backups, which have every acknowledged value', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    fill(cluster.client(a))
    b.kill()
    const client = cluster.client(c)
    expectAll(client)
    cluster.balance()
    expect(cluster.differences()).toEqual([])
    expect([a, c].flatMap((at) => at.eventsOf('lost'))).toEqual([])
  })

  it('has its requests that were passed on answered by the next primary', () => {
    const { cluster, a, b } = pair()
    const [key] = cluster.keysOn(b, 1)
    expect(cluster.client(a).call('SET', key, 'v')).toBe('OK')
    const [reader, writer] = [cluster.client(a), cluster.client(a)]
    b.kill()
    reader.send('GET', key)
    writer.send('SET', key, 'w')
    cluster.run(3000)
    expect(reader.replies).toEqual(['v'])
    expect(writer.replies).toEqual(['OK'])
  })

  it('steps down when it was only paused, and gets fresh copies', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    fill(cluster.client(a), KEYS, 'old')
    b.pause()
    cluster.run(2000)
    fill(cluster.client(c), KEYS, 'new')
    b.resume()
    cluster.run(500)
    cluster.balance()
    cluster.run(1500)
    expect(cluster.differences()).toEqual([])
    expectAll(cluster.client(b), KEYS, 'new')
    expect(b.held.length).toBeGreaterThan(0)
  })

  it('comes back with nothing after a restart and is filled again', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b', 'c')
    fill(cluster.client(a))
    b.kill()
    cluster.run(50) // Back before anybody noticed.
    cluster.start('b')
    cluster.run(500)
    cluster.balance()
    expect(cluster.differences()).toEqual([])
    expectAll(cluster.client(a))
    expectAll(cluster.client(b))
  })

  it('leaves buckets that nobody holds: they are announced and start empty', () => {
    const cluster = new MiniCluster({ lostAfterMs: 2000, policy: 'available' })
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    fill(cluster.client(a))
    b.kill()
    c.kill()
    cluster.run(6000)
    const lost = a.eventsOf('lost')
    expect(lost.length).toBeGreaterThan(0)
    expect(a.primaries).toHaveLength(16)
    expect(cluster.client(a).call('SET', KEYS[0], 'again')).toBe('OK')
  })
})

describe('a node that hears no majority', () => {
  it('serves nothing, and again when the others are back', () => {
    const cluster = new MiniCluster({ lostAfterMs: 60_000 })
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    cluster.runUntil(() => a.node.inspect().voters.voters.length === 3)
    fill(cluster.client(a))
    b.pause()
    c.pause()
    cluster.run(1500)
    const reader = cluster.client(a)
    for (const key of KEYS) reader.send('GET', key)
    cluster.run(3000)
    expect(reader.replies).toEqual([])
    expect(a.eventsOf('isolated')).toHaveLength(1)
    expect(a.eventsOf('serving')).toHaveLength(0)
    b.resume()
    c.resume()
    cluster.runUntil(() => reader.replies.length === KEYS.length)
    expectAll(cluster.client(b))
    expect([a, b, c].map((at) => at.eventsOf('isolated').length)).toEqual([1, 1, 1])
    cluster.run(1000)
    expect([a, b, c].map((at) => at.eventsOf('serving').length)).toEqual([1, 1, 1])
  })
})

describe('nodes that come and go one after the other', () => {
  it('never say that they were cut off', () => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b', 'c', 'd')
    cluster.run(5000)
    nodes[0].kill()
    cluster.run(5000)
    nodes[1].input((node, now) => node.leave(now))
    cluster.runUntil(() => nodes[1].eventsOf('mayGo').length > 0)
    nodes[1].kill()
    cluster.run(5000)
    nodes.push(cluster.start('e', { join: ['c'] }))
    cluster.run(5000)
    expect(nodes.flatMap((at) => at.eventsOf('isolated'))).toEqual([])
  })
})

describe('voters of which more than half ended at once', () => {
  it.each([3, 5])('are struck by hand with force, %i of them, and the others go on', (count) => {
    const cluster = new MiniCluster({ lostAfterMs: 2000, policy: 'majority' })
    const nodes = cluster.startAll(...['a', 'b', 'c', 'd', 'e'].slice(0, count))
    const survivors = nodes.slice(0, Math.floor(count / 2))
    const ended = nodes.slice(survivors.length)
    const [a] = survivors
    cluster.runUntil(() => a.node.inspect().voters.voters.length === count)
    fill(cluster.client(a))
    for (const node of ended) node.kill()
    cluster.run(3000)
    expect(a.node.inspect().voters.mayServe).toBe(false)
    const forget = (name: string, force: boolean): string | undefined => {
      let problem: string | undefined
      a.input((node, now) => (problem = node.forget(name, now, force)))
      return problem
    }
    expect(forget(ended[0].name, false)).toMatch(/with force/)
    expect(a.node.inspect().voters.mayServe).toBe(false)
    for (const { name } of ended) expect(forget(name, true)).toBe(undefined)
    cluster.runUntil(() => survivors.every((at) => at.node.inspect().voters.settled))
    cluster.run(8000)
    for (const at of survivors) {
      const client = cluster.client(at)
      for (const key of KEYS) expect(client.call('SET', key, 'again')).toBe('OK')
    }
    expect(survivors.flatMap((at) => at.eventsOf('lost')).length).toBeGreaterThan(0)
    if (survivors.length > 1) expect(cluster.differences()).toEqual([])
    // And voters change as ever: a newcomer votes.
    cluster.start('z', { join: ['a'] })
    cluster.runUntil(() => a.node.inspect().voters.voters.some(({ name }) => name === 'z'))
  })
})

describe('a node that leaves', () => {
  it('gives away everything and may go', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    fill(cluster.client(a))
    b.input((node, now) => node.leave(now))
    cluster.runUntil(() => b.eventsOf('mayGo').length > 0)
    expect(b.held).toEqual([])
    expectAll(cluster.client(c))
    cluster.run(100)
    b.kill()
    cluster.run(3000)
    expect(a.eventsOf('died')).toEqual([])
    expect(cluster.differences()).toEqual([])
    expectAll(cluster.client(a))
  })

  it('is still a door to the others until it goes', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    b.input((node, now) => node.leave(now))
    const client = cluster.client(b)
    fill(client)
    cluster.runUntil(() => b.eventsOf('mayGo').length > 0)
    expectAll(client)
    expect(a.primaries).toHaveLength(16)
  })

  it.each(['majority', 'available'] as const)('goes when the others know it (%s)', (policy) => {
    const cluster = new MiniCluster({ policy })
    const [a] = cluster.startAll('a', 'b', 'c')
    // It holds nothing, and need not vote: it could go at once.
    const witness = cluster.start('w', { weight: 0 })
    cluster.runUntil(() => a.node.inspect().members.some(({ name }) => name === 'w'))
    for (const to of ['a', 'b', 'c']) cluster.cutOneWay('w', to)
    witness.input((node, now) => node.leave(now))
    cluster.run(1000)
    expect(witness.eventsOf('mayGo')).toEqual([])
    cluster.heal()
    cluster.runUntil(() => witness.eventsOf('mayGo').length > 0)
    expect(a.node.inspect().members.find(({ name }) => name === 'w')?.state).not.toBe('alive')
  })

  it('with all the others keeps what each has of the other: nobody is left to give it to', () => {
    const cluster = new MiniCluster()
    const nodes = cluster.startAll('a', 'b')
    fill(cluster.client(nodes[0]))
    for (const at of nodes) at.input((node, now) => node.leave(now))
    cluster.run(5000)
    for (const { node } of nodes) {
      expect(node.inspect().rows.filter(({ backups }) => backups.length === 0)).toEqual([])
    }
  })
})

describe('a split', () => {
  it('under traffic keeps every key, and nodes with the old mask go on serving', () => {
    const cluster = new MiniCluster({}, { delayMs: 30, jitterMs: 5 })
    const [a, b] = cluster.startAll('a', 'b')
    fill(cluster.client(a))
    const c = cluster.start('c', { splitAt: 16 })
    // A session does one thing after the other: many of them, so that something happens all the time.
    const clients = Array.from({ length: 600 }, (_, i) => cluster.client([a, b, c][i % 3]))
    const sent: string[] = []
    let oldMasks = 0
    for (let i = 0; i < 3000; i++) {
      const masks = cluster.running.map(({ node }) => node.table.mask)
      if (new Set(masks).size > 1) oldMasks++
      clients[i % 600].send('SET', `many:${i}`, `v of many:${i}`)
      sent.push(`many:${i}`)
      cluster.run(1)
    }
    cluster.run(1000)
    expect(oldMasks).toBeGreaterThan(10)
    expect(cluster.running.map(({ node }) => node.table.mask)).toEqual([255, 255, 255])
    for (const { replies } of clients) expect(new Set(replies)).toEqual(new Set(['OK']))
    expect(clients.reduce((sum, { replies }) => sum + replies.length, 0)).toBe(3000)
    cluster.balance()
    expect(cluster.differences()).toEqual([])
    expectAll(cluster.client(c), [...KEYS, ...sent.filter((_, i) => i % 10 === 0)])
    expect([a, b, c].flatMap((at) => at.eventsOf('split')).map(({ mask }) => mask)).toEqual([
      255, 255, 255
    ])
  })
})

describe('a node that leaves while it is being made a voter', () => {
  it.each([15, 22])('goes, whatever became of that (seed %i)', (seed) => {
    const settings = { buckets: 16, splitAt: 8, seed: 1000 + seed }
    const network = { delayMs: 1 + (seed % 4) * 10, jitterMs: 1 + (seed % 3) * 40 }
    const cluster = new MiniCluster(settings, network)
    const [a] = cluster.startAll('a', 'b', 'c')
    const client = cluster.client(a)
    const write = (): void => {
      for (let i = 0; i < 40; i++) client.send('SET', `k${i}`, 'v'.repeat(1000))
    }
    write()
    const guest = cluster.start('d0')
    cluster.run(20 + ((seed * 37) % 900))
    guest.input((node, now) => node.leave(now))
    write()
    const mayGo = (): boolean => guest.eventsOf('mayGo').length > 0
    cluster.runUntil(mayGo, 20_000, 'a node that may go')
    expect(guest.node.table.totalOf(guest.node.self)).toBe(0)
  })
})

describe('a node that places keys otherwise', () => {
  it('is told why it cannot join, once on each side, and the others go on without it', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const other = cluster.start('x', { hash: 'md5' })
    cluster.run(5000)
    expect(other.node.joined).toBe(false)
    const reason = 'the cluster places keys by redis, this node by md5'
    expect(other.eventsOf('peerError')).toEqual([{ kind: 'peerError', node: 'x', reason }])
    expect(a.eventsOf('peerError')).toEqual([
      { kind: 'peerError', node: 'x', reason: 'it places keys by md5, the cluster by redis' }
    ])
    for (const { node } of [a, b]) {
      const { members, voters, rows } = node.inspect()
      expect(members.map(({ name }) => name)).toEqual(['a', 'b'])
      expect(voters.voters.map(({ name }) => name)).toEqual(['a', 'b'])
      expect(
        rows.some(({ primary, backups }) => [primary, ...backups].includes(nodeName('x')))
      ).toBe(false)
    }
    expect(cluster.client(a).call('SET', 'key', 'value')).toBe('OK')
  })
})

describe('buckets of which all copies are silent', () => {
  /** Five nodes; two of them are silent, and hold both copies of something. */
  function silence(lostAfterMs: number) {
    const cluster = new MiniCluster({ lostAfterMs, policy: 'majority' })
    const nodes = cluster.startAll('a', 'b', 'c', 'd', 'e')
    const [a] = nodes
    cluster.runUntil(() => a.node.inspect().voters.voters.length === 5)
    fill(cluster.client(a))
    const { primary, backups } = a.node.inspect().rows[0]
    const silent = nodes.filter(({ name }) => name === primary || backups.some((it) => it === name))
    const others = nodes.filter((node) => !silent.includes(node))
    for (const node of silent) node.pause()
    const lost = (): unknown[] => others.flatMap((node) => node.eventsOf('lost'))
    return { cluster, silent, others, lost }
  }

  it('are there again when these come back, however late', () => {
    const { cluster, silent, others, lost } = silence(300_000)
    cluster.run(200_000)
    expect(lost()).toEqual([])
    for (const node of silent) node.resume()
    cluster.runUntil(() => others[0].node.inspect().rows.every(({ primary }) => primary !== null))
    cluster.balance()
    expectAll(cluster.client(others[0]))
    expect(lost()).toEqual([])
  })

  it('start empty without waiting when somebody says that these have ended', () => {
    const { cluster, silent, others, lost } = silence(300_000)
    cluster.run(10_000)
    // The one that is to start them is the last to know.
    others[0].pause()
    for (const { name } of silent) others[2].input((node, now) => node.forget(name, now))
    cluster.run(300)
    others[0].resume()
    cluster.run(10_000)
    expect(lost().length).toBeGreaterThan(0)
    // One of them for all, lest every node asks for every row.
    expect(others.map((node) => node.eventsOf('lost').length)).toEqual([lost().length, 0, 0])
    for (const key of KEYS) {
      expect(cluster.client(others[0]).call('SET', key, 'again')).toBe('OK')
    }
  })
})

describe('a node that has left', () => {
  it('has left for one that learns it from others before it hears it', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b', 'c')
    b.input((node, now) => node.leave(now))
    cluster.runUntil(() => b.eventsOf('mayGo').length > 0)
    // What it says comes late to a newcomer.
    cluster.cut('b', 'd')
    const d = cluster.start('d', { join: ['a'] })
    cluster.runUntil(() => d.node.joined)
    cluster.heal()
    cluster.run(2000)
    b.kill()
    cluster.run(60_000)
    for (const { node } of [a, d]) {
      const peer = node.peers.get(nodeName('b'))
      expect(peer === undefined || peer.left).toBe(true)
      expect(node.peers.queuedBytes).toBeLessThan(2000)
    }
  })
})

describe('a node that can be heard and hears nothing', () => {
  it('is not sent more and more, and takes part again when it hears', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b', 'c')
    fill(cluster.client(a))
    cluster.cutOneWay('a', 'b')
    cluster.run(20_000)
    const soon = a.node.peers.queuedBytes
    cluster.run(120_000)
    expect(a.node.peers.queuedBytes).toBeLessThan(soon + 5000)
    cluster.heal()
    cluster.balance()
    expect(cluster.differences()).toEqual([])
    expectAll(cluster.client(b))
  })
})
