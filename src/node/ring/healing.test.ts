/** What a replica missed comes to it by each of the ways alone: hints, the repair of reads, the comparison of copies. */
import { expect, it } from 'vitest'
import { MiniRing } from '../../../test/support/mini-ring.js'

const NEVER_MS = 1e9
const NO_COMPARISON = { sweepMs: NEVER_MS, surplusMs: NEVER_MS }
const ONE_OF_TWO = { ack: 1, from: 2 } as const
const BOTH = { ack: 2, from: 2 } as const

/** Two nodes; the second is away while keys are written, and back again. */
function writeWithoutSecond(settings: object, keys: readonly string[]): MiniRing {
  const ring = new MiniRing(['a', 'b'], { copies: 2, ...settings })
  for (const key of keys) ring.ask('a', 'put', key, { value: 'old', ...BOTH })
  ring.cut.add('b')
  ring.until(() => !ring.node('a').isUp('b'))
  for (const key of keys) {
    expect(ring.ask('a', 'put', key, { value: 'new', ...ONE_OF_TWO }).status).toBe(201)
  }
  return ring
}

function comeBack(ring: MiniRing): void {
  ring.cut.clear()
  ring.until(() => ring.node('a').isUp('b') && ring.node('b').isUp('a'))
  ring.run(2000)
}

const areEqual = (ring: MiniRing, key: string): boolean =>
  ring.versionOf('a', key) === ring.versionOf('b', key)

it('a read whose answers differ mends them, and is answered with the newest', () => {
  const ring = writeWithoutSecond({ ...NO_COMPARISON, hintBytesMax: 0 }, ['read', 'unread'])
  comeBack(ring)
  expect([areEqual(ring, 'read'), areEqual(ring, 'unread')]).toEqual([false, false])
  const answer = ring.ask('b', 'get', 'read', BOTH)
  expect(answer).toMatchObject({ status: 200, value: Uint8Array.from(Buffer.from('new')) })
  ring.run(100)
  expect([areEqual(ring, 'read'), areEqual(ring, 'unread')]).toEqual([true, false])
})

it('a read that was answered by one mends what the others say later', () => {
  const ring = writeWithoutSecond({ ...NO_COMPARISON, hintBytesMax: 0 }, ['k'])
  comeBack(ring)
  ring.ask('a', 'get', 'k', ONE_OF_TWO)
  ring.run(100)
  expect(areEqual(ring, 'k')).toBe(true)
})

it('hints bring what was missed, without a read', () => {
  const ring = writeWithoutSecond(NO_COMPARISON, ['k', 'l'])
  expect(ring.node('a').inspect().hints).toBe(2)
  comeBack(ring)
  expect([areEqual(ring, 'k'), areEqual(ring, 'l')]).toEqual([true, true])
  expect(ring.node('a').inspect().hints).toBe(0)
})

it('hints have a limit; what did not fit is found by comparison', () => {
  const keys = Array.from({ length: 100 }, (_, i) => `key${i}`)
  const ring = writeWithoutSecond({ hintBytesMax: 300 }, keys)
  const { hints } = ring.node('a').inspect()
  expect(hints).toBeGreaterThan(0)
  expect(hints).toBeLessThan(20)
  comeBack(ring)
  ring.until(() => keys.every((key) => areEqual(ring, key)))
})

it('a replica that is asked to take an older write keeps the newer one', () => {
  const ring = new MiniRing(['a', 'b'], { copies: 2, ...NO_COMPARISON })
  ring.ask('a', 'put', 'k', { value: 'old', ...BOTH })
  const key = Uint8Array.from(Buffer.from('k'))
  const old = ring.node('a').records.encode(key, ring.now)
  ring.ask('b', 'put', 'k', { value: 'new', ...BOTH })
  const newest = ring.versionOf('b', 'k')
  ring.node('b').records.applyAll(old, ring.now)
  expect(ring.versionOf('b', 'k')).toBe(newest)
  ring.ask('a', 'delete', 'k', BOTH)
  ring.node('b').records.applyAll(old, ring.now)
  expect(ring.ask('b', 'get', 'k', ONE_OF_TWO).status).toBe(404)
})

it('a large value is waited for longer than a small one, written and read', () => {
  const ring = new MiniRing(['a', 'b'], { copies: 2, ...NO_COMPARISON, deadAfterMs: 60_000 })
  const value = 'v'.repeat(8 * 1024 * 1024)
  const askWhileSlow = (kind: 'put' | 'get', key: string, text?: string): number => {
    const more = text === undefined ? BOTH : { value: text, ...BOTH }
    ring.cut.add('b')
    const asked = ring.begin('a', kind, key, more)
    ring.run(4000)
    ring.cut.clear()
    return ring.end(asked).status
  }
  expect(askWhileSlow('put', 'large', value)).toBe(201)
  expect(askWhileSlow('get', 'large')).toBe(200)
  expect(askWhileSlow('put', 'small', 'v')).toBe(504)
  expect(askWhileSlow('get', 'small')).toBe(504)
})

it('what is to have more copies than there are nodes is counted, and gets them when nodes come', () => {
  const ring = new MiniRing(['a', 'b', 'c'], { copies: 1 })
  for (let i = 0; i < 20; i++) ring.ask('a', 'put', `three${i}`, { ack: 3, from: 3 })
  for (let i = 0; i < 5; i++) ring.ask('a', 'put', `two${i}`, { ack: 2, from: 2 })
  expect(ring.node('a').inspect().underReplicated).toBe(0)
  ring.node('c').leave(ring.now)
  ring.until(() => ring.node('a').configuration.members.length === 2)
  ring.nodes.delete('c')
  ring.run(1000)
  const counts = (): number[] => ['a', 'b'].map((name) => ring.node(name).inspect().underReplicated)
  expect(counts()).toEqual([20, 20])
  ring.ask('a', 'delete', 'three0', { ack: 1, from: 2 })
  ring.ask('a', 'put', 'three1', { ack: 2, from: 2 })
  ring.run(200)
  expect(counts()).toEqual([18, 18])
  ring.start('d', ['a'])
  ring.until(() => ring.isAtRest)
  expect(counts()).toEqual([0, 0])
  ring.until(() => ring.keysOf('d').filter((key) => key.startsWith('three')).length >= 18)
})

it('a join ships only what the newcomer gets, and a removal only what the leaver had', () => {
  const ring = new MiniRing(['a', 'b', 'c'], { copies: 2, pullBatchBytes: 500 })
  const keys = Array.from({ length: 300 }, (_, i) => `key${i}`)
  for (const key of keys) ring.ask('a', 'put', key, { value: 'v' })
  const received = (): Record<string, number> =>
    Object.fromEntries([...ring.nodes].map(([name, node]) => [name, node.inspect().received]))
  const before = received()
  ring.start('d', ['b'])
  ring.until(() => ring.isAtRest)
  expect(received()).toEqual({ ...before, d: ring.keysOf('d').length })
  expect(ring.keysOf('d').length).toBeGreaterThan(0)
  const total = (): number =>
    [...ring.nodes.keys()].reduce((sum, name) => sum + ring.keysOf(name).length, 0)
  ring.until(() => total() === 2 * keys.length)
  const joined = received()
  const left = ring.keysOf('d').length
  ring.node('d').leave(ring.now)
  ring.until(() => ring.node('a').configuration.members.length === 3)
  const gained = Object.entries(received()).reduce(
    (sum, [name, count]) => sum + count - (joined[name] ?? 0),
    0
  )
  expect(gained).toBe(left)
})
