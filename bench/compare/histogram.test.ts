import { expect, test } from 'vitest'
import { Histogram } from './histogram.js'

test('percentiles are within 2 % of the exact ones', () => {
  const histogram = new Histogram()
  for (let us = 1; us <= 100_000; us++) histogram.add(us, 1)
  const { p50, p99, p999, max } = histogram.summarize()
  expect(Math.abs(p50 / 50 - 1)).toBeLessThan(0.02)
  expect(Math.abs(p99 / 99 - 1)).toBeLessThan(0.02)
  expect(Math.abs(p999 / 99.9 - 1)).toBeLessThan(0.02)
  expect(max).toBe(100)
})

test('one long pause is the maximum and not the median', () => {
  const histogram = new Histogram()
  histogram.add(100, 9999)
  histogram.add(3_000_000, 1)
  expect(histogram.summarize()).toEqual({ p50: 0.1, p99: 0.1, p999: 0.1, max: 3000 })
})
