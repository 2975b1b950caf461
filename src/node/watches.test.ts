import { describe, expect, it } from 'vitest'
import { nodeName } from '../core/ids.js'
import { RespError } from '../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient, type MiniNode } from '../../test/support/mini-cluster.js'
import { WATCHES_MAX } from './watch-list.js'

function watch(client: MiniClient, pattern: string, name = 'watcher'): void {
  expect(client.call('OC.WATCH', name, pattern)).toBe('OK')
}

/** What happened to which key. */
function seen(client: MiniClient): string[] {
  return client.pushes.map((push) =>
    push[0] === 'oc.gap' ? 'gap' : (push.slice(3) as string[]).join(' ')
  )
}

/** Loses what one node says to another, until it is called. */
function drop(cluster: MiniCluster, from: MiniNode, to: MiniNode): () => void {
  cluster.onPost = (sender, receiver) => sender !== from.name || receiver !== to.name
  return () => (cluster.onPost = undefined)
}

/** Keys that `primary` is primary of and `backup` has the copy of. */
function keysOf(cluster: MiniCluster, primary: MiniNode, backup: MiniNode): string[] {
  const isHeld = (key: string): boolean => cluster.stateOf(key, backup.node)?.role === 'backup'
  return cluster.keysOn(primary, 200).filter(isHeld)
}

describe('a watcher', () => {
  it('is told what happens to the keys of its pattern, and nothing else', () => {
    const cluster = new MiniCluster()
    const a = cluster.start('a')
    const [watcher, writer] = [cluster.client(a), cluster.client(a)]
    watch(watcher, 'user:*')
    writer.call('SET', 'user:1', 'v')
    writer.call('SET', 'other', 'v')
    writer.call('DEL', 'user:1')
    writer.call('DEL', 'user:1')
    writer.call('SET', 'user:2', 'v', 'PX', '300')
    cluster.run(1000)
    expect(seen(watcher)).toEqual(['set user:1', 'deleted user:1', 'set user:2', 'expired user:2'])
  })

  it('is told nothing any more about a pattern it gave up, and goes on with the others', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const [watcher, writer] = [cluster.client(a), cluster.client(b)]
    watch(watcher, 'user:*')
    watch(watcher, 'order:*')
    expect(watcher.call('OC.UNWATCH', 'watcher', 'user:*')).toBe('OK')
    expect(watcher.call('OC.UNWATCH', 'watcher', 'never:*')).toBe('OK')
    // Not somebody else's to give up.
    expect(writer.call('OC.UNWATCH', 'watcher', 'order:*')).toBe('OK')
    cluster.run(10)
    for (let i = 0; i < 10; i++) writer.call('SET', `user:${i}`, 'v')
    writer.call('SET', 'order:1', 'v')
    cluster.run(10)
    expect(seen(watcher)).toEqual(['set order:1'])
  })

  it('is told by whichever node is primary', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    const keys = [a, b, c].flatMap((at) => cluster.keysOn(at, 3))
    const writer = cluster.client(b)
    cluster.run(10)
    for (const key of keys) writer.call('SET', key, 'v')
    cluster.run(10)
    expect(seen(watcher).sort()).toEqual(keys.map((key) => `set ${key}`).sort())
  })

  it('misses nothing and hears nothing twice while buckets move and switch', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    cluster.run(10)
    const c = cluster.start('c')
    const writers = Array.from({ length: 100 }, (_, i) => cluster.client([a, b, c][i % 3]))
    for (let i = 0; i < 1500; i++) {
      writers[i % 100].send('SET', `key:${i}`, 'v')
      cluster.run(0.3)
    }
    cluster.balance()
    cluster.run(100)
    const wanted = Array.from({ length: 1500 }, (_, i) => `set key:${i}`)
    expect(seen(watcher).sort()).toEqual(wanted.sort())
    // The numbers of a bucket's events have no holes.
    const numbers = new Map<number, number[]>()
    for (const [, bucket, seq] of watcher.pushes as [string, number, number][]) {
      numbers.set(bucket, [...(numbers.get(bucket) ?? []), seq])
    }
    for (const of of numbers.values()) expect(of).toEqual(of.map((_, i) => of[0] + i))
  })

  it('is forgotten everywhere when it closes', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    cluster.run(10)
    watcher.close()
    cluster.run(10)
    const posted = cluster.posted
    const [key] = cluster.keysOn(b, 1)
    cluster.client(b).call('SET', key, 'v')
    expect(watcher.pushes).toEqual([])
    // The write and its acknowledgement, nothing more.
    expect(cluster.posted - posted).toBeLessThanOrEqual(2)
  })

  it('is told again after its node was taken for dead and came back', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b', 'c')
    const watcher = cluster.client(b)
    watch(watcher, '*')
    b.pause()
    cluster.run(2000)
    b.resume()
    cluster.run(500)
    cluster.balance()
    const keys = cluster.keysOn(a, 5)
    for (const key of keys) cluster.client(a).call('SET', key, 'v')
    cluster.run(50)
    // Of what happened meanwhile nobody can be sure.
    const events = seen(watcher)
    expect(events).toContain('gap')
    expect(events.slice(events.lastIndexOf('gap') + 1)).toEqual(keys.map((key) => `set ${key}`))
  })

  it('is told when the write is on every copy, and not before', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    const [key] = keysOf(cluster, b, c)
    const heal = drop(cluster, b, c)
    cluster.client(b).send('SET', key, 'v')
    cluster.run(100)
    expect(seen(watcher)).toEqual([])
    heal()
    cluster.run(300)
    expect(seen(watcher)).toEqual([`set ${key}`])
  })

  it('is told by the backup what a dead primary had acknowledged but could not tell', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    const [key] = keysOf(cluster, b, c)
    const heal = drop(cluster, b, a)
    expect(cluster.client(b).call('SET', key, 'v')).toBe('OK')
    b.kill()
    heal()
    cluster.run(50)
    expect(seen(watcher)).toEqual([])
    cluster.run(3000)
    expect(seen(watcher)).toEqual([`set ${key}`])
  })

  it('is told once what the primary told and the backup tells again', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    const [key] = keysOf(cluster, b, c)
    cluster.client(b).call('SET', key, '1')
    cluster.run(5)
    expect(seen(watcher)).toEqual([`set ${key}`])
    b.kill()
    cluster.run(3000)
    expect(cluster.stateOf(key, c.node)?.role).toBe('primary')
    cluster.client(a).call('SET', key, '2')
    cluster.run(50)
    expect(seen(watcher)).toEqual([`set ${key}`, `set ${key}`])
    const numbers = watcher.pushes.map((push) => push[2] as number)
    expect(numbers[1]).toBe(numbers[0] + 1)
  })

  it('hears from the next primary that it missed something, if the dead one could not tell it', () => {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const [watcher, other] = [cluster.client(a), cluster.client(c)]
    watch(watcher, '*')
    watch(other, '*', 'other')
    const [key] = keysOf(cluster, b, c)
    const isCutOff = (): boolean => b.node.peers.get(nodeName('a'))?.dead === true
    // It goes on listening to the others, but to these two each other is dead.
    cluster.cut('a', 'b')
    cluster.runUntil(isCutOff)
    cluster.client(b).send('SET', key, 'v')
    cluster.runUntil(() => seen(other).includes(`set ${key}`))
    // Long enough for its backup to forget what was told.
    cluster.run(1500)
    b.kill()
    cluster.heal()
    cluster.run(4000)
    expect(seen(watcher)).toEqual(['gap'])
  })

  it('can be told by a node whose copies were made after the writes', () => {
    const cluster = new MiniCluster()
    const [b, c] = [cluster.start('b'), cluster.start('c')]
    // It has patience with those it does not hear.
    const a = cluster.start('a', { deadAfterMs: 60_000 })
    cluster.balance()
    const watcher = cluster.client(a)
    watch(watcher, '*')
    // Whichever of the two is a primary with the other one as its backup.
    const [primary, backup] = keysOf(cluster, b, c).length > 0 ? [b, c] : [c, b]
    const heal = drop(cluster, primary, a)
    const written = keysOf(cluster, primary, backup)
    for (const key of written) cluster.client(primary).call('SET', key, 'v')
    const d = cluster.start('d', { join: [backup.name] })
    const noted = (): string[] =>
      d.held.flatMap(({ role, events }) => {
        return role === 'backup' ? (events?.events.map(({ key }) => key) ?? []) : []
      })
    cluster.runUntil(() => noted().length > 0)
    const keys = noted()
    expect(seen(watcher)).not.toContain(`set ${keys[0]}`)
    heal()
    cluster.run(1500)
    for (const key of keys) expect(seen(watcher)).toContain(`set ${key}`)
    // And when the primary says that they are told, they are forgotten.
    expect(noted()).toEqual([])
  })

  it('is confirmed when every node knows of it', () => {
    const cluster = new MiniCluster()
    const [a, , c] = cluster.startAll('a', 'b', 'c')
    const watcher = cluster.client(a)
    const heal = drop(cluster, a, c)
    watcher.send('OC.WATCH', 'watcher', '*')
    cluster.run(200)
    expect(watcher.replies).toEqual([])
    heal()
    cluster.run(300)
    expect(watcher.replies).toEqual(['OK'])
  })

  it('is not held up by a node that is dead', () => {
    const cluster = new MiniCluster()
    const [a, , c] = cluster.startAll('a', 'b', 'c')
    c.kill()
    expect(cluster.client(a).call('OC.WATCH', 'watcher', '*')).toBe('OK')
  })

  it('is told by a newcomer that its node has not met', () => {
    const cluster = new MiniCluster({ deadAfterMs: 5000 })
    const [a, b] = cluster.startAll('a', 'b')
    const watcher = cluster.client(a)
    watch(watcher, '*')
    cluster.cut('a', 'd')
    const d = cluster.start('d', { join: ['b'] })
    cluster.runUntil(() => d.primaries.length > 0, 4000)
    const [key] = cluster.keysOn(d, 1)
    cluster.client(d).send('SET', key, 'v')
    cluster.run(100)
    expect(seen(watcher)).toEqual([])
    cluster.heal()
    cluster.run(1000)
    expect(seen(watcher)).toEqual([`set ${key}`])
    expect(cluster.stateOf(key, b.node)?.events).toBeUndefined()
  })

  it('cannot have a name that does not fit', () => {
    const cluster = new MiniCluster()
    const watcher = cluster.client(cluster.start('a'))
    expect(watcher.call('OC.WATCH', 'x'.repeat(300), '*')).toBeInstanceOf(RespError)
  })

  it('cannot have more watches than a node keeps, and is told so', () => {
    const cluster = new MiniCluster()
    const client = cluster.client(cluster.start('a'))
    const command = (i: number): string => `OC.WATCH w ${i}\r\n`
    const text = Array.from({ length: WATCHES_MAX }, (_, i) => command(i)).join('')
    client.sendRaw(new TextEncoder().encode(text))
    expect(client.replies).toHaveLength(WATCHES_MAX)
    expect(client.call('OC.WATCH', 'w', '0')).toBe('OK')
    expect(client.call('OC.WATCH', 'w', 'one more')).toBeInstanceOf(RespError)
  })
})
