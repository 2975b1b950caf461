import { describe, expect, it } from 'vitest'
import { RespError } from '../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient } from '../../test/support/mini-cluster.js'
import { WATCHES_MAX } from './watches.js'

function watch(client: MiniClient, pattern: string, name = 'watcher'): void {
  expect(client.call('OC.WATCH', name, pattern)).toBe('OK')
}

/** What happened to which key. */
function seen(client: MiniClient): string[] {
  return client.pushes.map((push) => (push.slice(3) as string[]).join(' '))
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
    expect(seen(watcher)).toEqual(keys.map((key) => `set ${key}`))
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
