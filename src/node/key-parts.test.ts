import { expect, it } from 'vitest'
import { MiniCluster } from '../../test/support/mini-cluster.js'
import { RespError } from '../wire/resp/reply-value.js'

const KEYS = Array.from({ length: 40 }, (_, i) => `key:${i}`)
const PAIRS = KEYS.flatMap((key, i) => [key, `value ${i}`])

const textOf = (reply: unknown): string => (reply instanceof RespError ? reply.text : '')

it('does to several keys what is done to one, here and elsewhere', () => {
  const cluster = new MiniCluster()
  const a = cluster.start('a')
  const client = cluster.client(a)
  const parts = () => {
    expect(client.call('MSET', ...PAIRS)).toBe('OK')
    client.call('RPUSH', 'list', 'no string')
    expect(client.call('mset', 'list', '', KEYS[0], 'a', KEYS[0], 'b')).toBe('OK')
    expect(client.call('MGET', 'list', ...KEYS.slice(0, 3))).toEqual([
      '',
      'b',
      'value 1',
      'value 2'
    ])
    expect(client.call('EXISTS', ...KEYS, 'none', KEYS[0])).toBe(41)
    expect(client.call('TOUCH', KEYS[0], 'none')).toBe(1)
    expect(client.call('DEL', KEYS[0], 'none', KEYS[0], KEYS[1])).toBe(2)
    expect(client.call('UNLINK', ...KEYS, 'list')).toBe(39)
    expect(client.call('DBSIZE')).toBe(0)
    expect(textOf(client.call('MSET', 'key', 'value', 'key'))).toContain(
      'wrong number of arguments'
    )
    expect(textOf(client.call('DEL'))).toContain('wrong number of arguments')
  }
  parts()
  cluster.start('b')
  cluster.balance()
  parts()
})

it('answers when all parts are on their backups, which have them all', () => {
  const cluster = new MiniCluster()
  const [a, b] = cluster.startAll('a', 'b')
  const keys = cluster.keysOn(a, 20)
  const client = cluster.client(a)
  cluster.onPost = (from, to) => !(from === b.name && to === a.name)
  client.send('MSET', ...keys.flatMap((key) => [key, 'kept']))
  client.send('DEL', keys[0], keys[1])
  cluster.run(100)
  expect(client.replies).toEqual([])
  cluster.onPost = undefined
  cluster.runUntil(() => client.replies.length === 2)
  expect(client.replies).toEqual(['OK', 2])
  a.kill()
  const other = cluster.client(b)
  cluster.runUntil(() => {
    other.send('MGET', ...keys)
    cluster.run(200)
    return Array.isArray(other.replies.at(-1))
  })
  expect(other.replies.at(-1)).toEqual(keys.map((_, i) => (i < 2 ? null : 'kept')))
})

it('a part that does not fit is the answer, and the others count', () => {
  const cluster = new MiniCluster()
  const client = cluster.client(cluster.start('a'))
  const long = 'k'.repeat(70_000)
  const reply = client.call('MSET', 'first', '1', long, '2', 'third', '3')
  expect(textOf(reply)).toContain('key is longer')
  expect(client.call('MGET', 'first', 'third')).toEqual(['1', '3'])
})
