import { describe, expect, test } from 'vitest'
import { Latency } from './latency.js'

describe('latency', () => {
  test('is from the request to the end of the turn that answered it', () => {
    let now = 0
    const latency = new Latency(() => now)
    const timed: number[] = []
    latency.onTimed = (ms) => timed.push(ms)
    latency.asked(7)
    now = 1
    latency.written()
    expect(timed).toEqual([])
    expect(latency.session).toBe(7)
    latency.answered()
    now = 2
    latency.written()
    latency.written()
    expect(timed).toEqual([2])
    expect(latency.session).toBe(0)
  })

  test('gives percentiles within an eighth of an octave, and forgets them', () => {
    let now = 0
    const latency = new Latency(() => now)
    for (let i = 1; i <= 100; i++) {
      latency.asked(1)
      latency.answered()
      now += i <= 90 ? 0.1 : 10
      latency.written()
    }
    const { p50, p99 } = latency.take()
    expect(Math.abs(Math.log2(p50 / 100))).toBeLessThan(1 / 8)
    expect(Math.abs(Math.log2(p99 / 10_000))).toBeLessThan(1 / 8)
    expect(latency.take()).toEqual({ p50: 0, p99: 0 })
  })

  test('under load times one request in 64, and never two at a time', () => {
    let reads = 0
    const latency = new Latency(() => ++reads)
    for (let i = 0; i < 100_000; i++) latency.asked(1)
    latency.take()
    latency.closed(1)
    reads = 0
    let timed = 0
    latency.onTimed = () => timed++
    for (let i = 0; i < 6400; i++) {
      latency.asked(i + 1)
      if (latency.session === i + 1) latency.answered()
      latency.written()
    }
    // The first one is still by the old measure.
    expect(timed).toBeGreaterThanOrEqual(100)
    expect(timed).toBeLessThanOrEqual(102)
  })
})
