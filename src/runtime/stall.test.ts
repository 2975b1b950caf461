import { expect, test } from 'vitest'
import { Stall } from './stall.js'

test('the longest turn counts, once', () => {
  const stall = new Stall()
  stall.worked(100, 130)
  stall.worked(200, 210)
  expect(stall.take()).toBe(30)
  expect(stall.take()).toBe(0)
})

test('a timer that comes late shows what happened between turns', () => {
  const stall = new Stall()
  stall.woke(1000, 1001)
  expect(stall.take()).toBe(0)
  stall.woke(1000, 1500)
  expect(stall.take()).toBe(499)
})

test('a timer that comes early is no stall', () => {
  const stall = new Stall()
  stall.woke(1000, 999)
  expect(stall.take()).toBe(0)
})
