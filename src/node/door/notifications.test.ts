import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'
import { normalizeClasses } from './key-events.js'

/** What was heard, as `event key`. */
function heard({ replies }: MiniClient): string[] {
  const messages = replies.filter((reply) => Array.isArray(reply) && reply[0] === 'pmessage')
  return (messages as string[][]).map(([, , channel, key]) => `${channel.slice(15)} ${key}`)
}

describe('notifications', () => {
  it('are told by whichever node is primary, also one that came later', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const listener = cluster.client(a)
    expect(cluster.client(b).call('CONFIG', 'SET', 'notify-keyspace-events', 'EA')).toBe('OK')
    expect(listener.call('CONFIG', 'GET', 'notify-keyspace-events')).toContain('AE')
    listener.call('PSUBSCRIBE', '__keyevent@0__:*')
    const c = cluster.start('c')
    cluster.balance()
    const writer = cluster.client(c)
    expect(writer.call('CONFIG', 'GET', 'notify-keyspace-events')).toContain('AE')
    const keys = [a, b, c].flatMap((at) => cluster.keysOn(at, 3))
    for (const key of keys) writer.call('LPUSH', key, 'x')
    for (const key of keys) writer.call('LPOP', key)
    cluster.run(10)
    const wanted = keys.flatMap((key) => [`lpush ${key}`, `lpop ${key}`, `del ${key}`])
    expect(heard(listener).sort()).toEqual(wanted.sort())
  })

  it('are neither lost nor doubled when the primary dies', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b', 'c')
    const listener = cluster.client(a)
    listener.call('CONFIG', 'SET', 'notify-keyspace-events', 'EA')
    listener.call('PSUBSCRIBE', '__keyevent@0__:*')
    const writer = cluster.client(a)
    const isBackup = (key: string): boolean => cluster.backupOf(key).name === 'c'
    const keys = cluster.keysOn(b, 200).filter(isBackup).slice(0, 10)
    // What the primary says to the listener's node is lost, and then the primary dies.
    cluster.onPost = (from, to) => !(from === 'b' && to === 'a')
    for (const key of keys) writer.send('SADD', key, 'x')
    cluster.run(20)
    b.kill()
    cluster.onPost = undefined
    cluster.run(5000)
    expect(heard(listener).sort()).toEqual(keys.map((key) => `sadd ${key}`).sort())
  })

  it('cost nothing where nobody listens to keys', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b')
    const client = cluster.client(a)
    client.call('CONFIG', 'SET', 'notify-keyspace-events', 'KEA')
    cluster.client(a).call('SUBSCRIBE', 'news')
    cluster.client(a).call('PSUBSCRIBE', 'n*')
    client.call('SET', 'x', '1')
    expect(a.held.every(({ events }) => events === undefined)).toBe(true)
  })
})

describe('classes of notifications', () => {
  it('are shown as Redis shows them', () => {
    expect(normalizeClasses('g$lshzxetdKEm')).toBe('AKEm')
    expect(normalizeClasses('EKlg')).toBe('glKE')
    expect(normalizeClasses('')).toBe('')
    expect(normalizeClasses('Kq')).toBe(undefined)
  })
})
