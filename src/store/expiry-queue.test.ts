import fc from 'fast-check'
import { expect, it } from 'vitest'
import { latin1Bytes, Span } from '../core/bytes.js'
import { Store } from './store.js'

it('finds what has expired and nothing else, in steps of any size', () => {
  const span = fc.oneof(fc.nat(40), fc.nat(5000), fc.nat(100_000_000), fc.constant(2 ** 50))
  const step = fc.record({ forward: fc.nat(3000), add: fc.array(span, { maxLength: 8 }) })
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 25 }),
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(0, 1_700_000_000_000),
      (steps, budget, start) => {
        const store = new Store({ seed: 3 })
        const key = store.createKey()
        const bucket = store.open(0)
        const due = new Map<string, number>()
        let now = start
        let made = 0
        for (const { forward, add } of steps) {
          for (const ms of add) {
            const name = `k${made++}`
            const expiry = now + ms + 1
            bucket.setString(key.setBytes(latin1Bytes(name), 0), Span.ofLatin1(''), 1, expiry)
            due.set(name, expiry)
          }
          now += forward
          let left = 0
          for (let calls = 0; left === 0; calls++) {
            expect(calls).toBeLessThan(2000)
            left = bucket.expired(now, budget, (ref) => {
              const name = bucket.pointKey(ref, new Span()).latin1()
              expect(due.get(name)).toBeLessThanOrEqual(now)
              due.delete(name)
              bucket.remove(ref)
            })
          }
          for (const expiry of due.values()) expect(expiry).toBeGreaterThan(now - 32)
          expect(bucket.expiring).toBe(due.size)
        }
        store.check()
      }
    )
  )
})

it('costs little when nothing is due', () => {
  const store = new Store({ seed: 3 })
  const key = store.createKey()
  const bucket = store.open(0)
  const start = 1_700_000_000_000
  for (let i = 0; i < 5000; i++) {
    key.setBytes(latin1Bytes(`k${i}`), 0)
    bucket.setString(key, Span.ofLatin1(''), 1, start + 3_600_000 + i)
  }
  let spent = 0
  for (let now = start; now < start + 3_600_000; now += 1000) {
    spent += 1e6 - bucket.expired(now, 1e6, () => expect.unreachable())
  }
  // Each item steps down a few lists in an hour; sampling would look at millions.
  expect(spent).toBeLessThan(5000 * 25)
})

it('does not spin on an item that its caller leaves alone', () => {
  const store = new Store({ seed: 3 })
  const key = store.createKey().setBytes(latin1Bytes('k'), 0)
  const bucket = store.open(0)
  bucket.setString(key, Span.ofLatin1(''), 1, 10)
  let calls = 0
  expect(bucket.expired(1000, 1e6, () => calls++)).toBeGreaterThan(0)
  expect(calls).toBe(1)
  expect(bucket.expired(2000, 1e6, (ref) => bucket.remove(ref))).toBeGreaterThan(0)
  expect(bucket.items).toBe(0)
})
