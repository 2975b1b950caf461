import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode, type Settings } from '../../test/support/mini-cluster.js'
import { RespError } from '../wire/resp/reply-value.js'

interface Trio {
  readonly cluster: MiniCluster
  readonly a: MiniNode
  readonly b: MiniNode
  readonly c: MiniNode
  /** Keys of which `b` is the primary and `c` has the copy. */
  readonly keys: string[]
}

function trio(settings: Settings = {}): Trio {
  const cluster = new MiniCluster(settings)
  const [a, b, c] = cluster.startAll('a', 'b', 'c')
  const isBackup = (key: string): boolean => cluster.stateOf(key, c.node)?.role === 'backup'
  return { cluster, a, b, c, keys: cluster.keysOn(b, 200).filter(isBackup) }
}

/** Loses what one node says to another from now on. */
function silence(cluster: MiniCluster, from: MiniNode, to: MiniNode): void {
  cluster.onPost = (sender, receiver) => !(sender === from.name && receiver === to.name)
}

describe('a write that was passed on', () => {
  it('happens once and is answered when its primary dies after it', () => {
    const { cluster, a, b, keys } = trio()
    const client = cluster.client(a)
    const [key, list] = keys
    client.call('RPUSH', list, 'x', 'y', 'z')
    silence(cluster, b, a)
    client.send('INCR', key)
    client.send('INCRBY', key, '10')
    client.send('LPOP', list)
    client.send('SET', key, '100', 'GET')
    cluster.run(20)
    b.kill()
    cluster.run(5000)
    expect(client.replies.slice(1)).toEqual([1, 11, 'x', '11'])
    expect(client.call('LRANGE', list, '0', '-1')).toEqual(['y', 'z'])
    cluster.run(2000)
    expect(cluster.differences()).toEqual([])
  })

  it('happens once when its primary dies before it', () => {
    const { cluster, a, b, keys } = trio()
    const client = cluster.client(a)
    silence(cluster, a, b)
    client.send('INCR', keys[0])
    cluster.run(20)
    b.kill()
    cluster.run(5000)
    expect(client.replies).toEqual([1])
    expect(client.call('GET', keys[0])).toBe('1')
  })

  it('is shown to happen twice by a build that forgets it', () => {
    const { cluster, a, b, keys } = trio({ sabotage: 'forget-forwarded' })
    const client = cluster.client(a)
    silence(cluster, b, a)
    client.send('INCR', keys[0])
    cluster.run(20)
    b.kill()
    cluster.run(5000)
    expect(client.call('GET', keys[0])).toBe('2')
  })

  it('happens once when it is a transaction or is about several keys', () => {
    const { cluster, a, b, keys } = trio()
    const client = cluster.client(a)
    const [tag] = keys
    const [one, two] = [`{${tag}}1`, `{${tag}}2`]
    silence(cluster, b, a)
    client.send('MULTI')
    client.send('INCR', one)
    client.send('INCR', two)
    client.send('EXEC')
    cluster.run(20)
    client.send('SUNIONSTORE', one, two)
    b.kill()
    cluster.run(5000)
    expect(client.replies.slice(3)).toEqual([
      [1, 1],
      new RespError('WRONGTYPE Operation against a key holding the wrong kind of value')
    ])
    expect(client.call('MGET', one, two)).toEqual(['1', '1'])
  })

  it('is not executed by a node that was taken for dead, when it comes back', () => {
    const { cluster, a, c, keys } = trio()
    const client = cluster.client(a)
    cluster.cut('a', 'b')
    cluster.cut('b', 'c')
    client.send('INCR', keys[0])
    cluster.run(5000)
    expect(client.replies).toEqual([1])
    expect(cluster.client(c).call('SET', keys[0], '50')).toBe('OK')
    cluster.run(40_000)
    cluster.heal()
    cluster.run(5000)
    expect(client.call('GET', keys[0])).toBe('50')
  })

  it('is not executed later after its client heard that it changed nothing', () => {
    const { cluster, a, b, c, keys } = trio({ policy: 'majority' })
    const [client, other] = [cluster.client(a), cluster.client(c)]
    expect(other.call('SET', keys[0], 'there')).toBe('OK')
    // All three are voters by then.
    cluster.run(3000)
    b.pause()
    client.send('SET', keys[0], 'late', 'NX')
    cluster.run(4000)
    expect(client.replies).toEqual([null])
    expect(other.call('DEL', keys[0])).toBe(1)
    // The node that was taken for dead has the first one only now, and passes it on.
    b.resume()
    cluster.run(3000)
    expect(other.call('GET', keys[0])).toBe(null)
  })

  it('is known to whoever has the bucket later', () => {
    const { cluster, a, b, c, keys } = trio()
    const client = cluster.client(a)
    client.call('INCR', keys[0])
    for (const at of [b, c]) expect(cluster.stateOf(keys[0], at.node)?.notes?.size).toBe(1)
    cluster.start('d')
    cluster.start('e')
    cluster.balance()
    for (const at of cluster.running) {
      const state = cluster.stateOf(keys[0], at.node)
      if (state !== undefined) expect([at.name, state.notes?.size]).toEqual([at.name, 1])
    }
    // And to nobody after a while.
    cluster.run(60_000)
    for (const at of cluster.running) {
      for (const { notes } of at.held) expect(notes).toBe(undefined)
    }
  })

  it('leaves little behind', () => {
    const { cluster, a, b, keys } = trio()
    const client = cluster.client(a)
    for (let i = 0; i < 300; i++) client.send('INCR', keys[0])
    cluster.run(100)
    for (let i = 0; i < 20; i++) client.call('INCR', keys[0])
    expect(client.replies).toHaveLength(320)
    expect(cluster.stateOf(keys[0], b.node)?.notes?.size).toBeLessThan(3)
  })
})
