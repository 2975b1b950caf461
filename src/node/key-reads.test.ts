import { expect, it } from 'vitest'
import { MiniCluster } from '../../test/support/mini-cluster.js'

const KEYS = Array.from({ length: 40 }, (_, i) => `key:${i}`)

it('reads of several keys are what reads of each are, here and elsewhere', () => {
  const cluster = new MiniCluster()
  const a = cluster.start('a')
  const client = cluster.client(a)
  for (const [i, key] of KEYS.entries()) {
    if (i % 3 === 0) client.call('SET', key, `value ${i}`)
    if (i % 3 === 1) client.call('RPUSH', key, 'no string')
  }
  client.call('SET', KEYS[2], 'gone', 'PX', '100')
  cluster.run(500)
  const wanted = KEYS.map((_, i) => (i % 3 === 0 ? `value ${i}` : null))
  expect(client.call('MGET', ...KEYS)).toEqual(wanted)
  expect(client.call('mget', KEYS[3], KEYS[3])).toEqual(['value 3', 'value 3'])
  // With keys on both nodes the parts are put together.
  const b = cluster.start('b')
  cluster.balance()
  for (const at of [a, b]) expect(cluster.client(at).call('MGET', ...KEYS)).toEqual(wanted)
})

it('reads of several keys wait for writes that are not on all copies yet', () => {
  const cluster = new MiniCluster()
  const [a, b] = cluster.startAll('a', 'b')
  const keys = cluster.keysOn(a, 2)
  const [writer, reader] = [cluster.client(a), cluster.client(a)]
  writer.call('SET', keys[0], 'old')
  cluster.onPost = (from, to) => !(from === b.name && to === a.name)
  writer.send('SET', keys[0], 'new')
  reader.send('MGET', ...keys)
  cluster.run(100)
  expect(reader.replies).toEqual([])
  cluster.onPost = undefined
  cluster.runUntil(() => reader.replies.length === 1)
  expect(reader.replies).toEqual([['new', null]])
})
