import { expect, it } from 'vitest'
import { HybridClock } from './clock.js'

it('never repeats or goes back, whatever the time does', () => {
  const clock = new HybridClock()
  let last = -1
  for (const now of [1000, 1000, 1000.7, 999, 5, 1001, 1001]) {
    const version = clock.next(now)
    expect(version).toBeGreaterThan(last)
    last = version
  }
  for (let i = 0; i < 5000; i++) {
    const version = clock.next(1001)
    expect(version).toBeGreaterThan(last)
    last = version
  }
})

it('follows the time and what it observes', () => {
  const clock = new HybridClock()
  expect(HybridClock.toMs(clock.next(1_700_000_000_123))).toBe(1_700_000_000_123)
  clock.observe(HybridClock.fromMs(1_800_000_000_000))
  const version = clock.next(1_700_000_000_124)
  expect(version).toBe(HybridClock.fromMs(1_800_000_000_000) + 1)
  expect(HybridClock.toMs(version)).toBe(1_800_000_000_000)
  clock.observe(5)
  expect(clock.last).toBe(version)
  expect(Number.isSafeInteger(HybridClock.fromMs(4_000_000_000_000))).toBe(true)
})
