import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'

const KEYS = Array.from({ length: 40 }, (_, i) => `key:${i}`)

/** Two nodes that were cut apart, each of which wrote all keys, this much later than the other. */
function parted(laterMs: number): { nodes: MiniNode[]; values: unknown[]; conflicts: number } {
  const cluster = new MiniCluster({ policy: 'available' })
  const nodes = cluster.startAll('a', 'b')
  const [one, two] = nodes.map((at) => cluster.client(at))
  for (const key of KEYS) expect(one.call('SET', key, 'before')).toBe('OK')
  cluster.run(2000)
  cluster.cut('a', 'b')
  cluster.run(1500)
  for (const key of KEYS) expect(one.call('SET', key, 'one')).toBe('OK')
  cluster.run(laterMs)
  for (const key of KEYS) expect(two.call('SET', key, 'two')).toBe('OK')
  expect(one.call('SET', 'only', 'one')).toBe('OK')
  cluster.heal()
  cluster.run(5000)
  expect(cluster.differences()).toEqual([])
  expect(two.call('GET', 'only')).toBe('one')
  const values = KEYS.map((key) => one.call('GET', key))
  return { nodes, values, conflicts: nodes.flatMap((at) => at.eventsOf('conflict')).length }
}

describe('two sides of a cut', () => {
  it('agree on the newest value, and tell every key that both wrote', () => {
    const { values, conflicts } = parted(50)
    expect(new Set(values)).toEqual(new Set(['two']))
    expect(conflicts).toBe(KEYS.length)
  })

  it('tell it, too, where two clocks gave the same version to two values', () => {
    const { conflicts } = parted(0)
    expect(conflicts).toBe(KEYS.length)
  })
})
