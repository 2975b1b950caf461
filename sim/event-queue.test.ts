import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventQueue } from './event-queue.js'

describe('the event queue', () => {
  it('lets events act by time, and in the order of insertion at the same time', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 }), (times) => {
        const queue = new EventQueue()
        const seen: [number, number][] = []
        times.forEach((time, order) => queue.at(time, () => seen.push([time, order])))
        while (queue.step(Infinity));
        const sorted = times
          .map((time, order): [number, number] => [time, order])
          .sort((a, b) => a[0] - b[0] || a[1] - b[1])
        expect(seen).toEqual(sorted)
      })
    )
  })

  it('passes over what was cancelled', () => {
    const queue = new EventQueue()
    const seen: string[] = []
    queue.at(1, () => seen.push('kept'))
    queue.cancel(queue.at(2, () => seen.push('cancelled')))
    while (queue.step(10));
    expect(seen).toEqual(['kept'])
  })

  it('stops at the given time and takes what events add', () => {
    const queue = new EventQueue()
    const seen: number[] = []
    queue.at(1, () => queue.after(1, () => seen.push(queue.now)))
    queue.at(5, () => seen.push(queue.now))
    while (queue.step(4));
    queue.advance(4)
    expect(seen).toEqual([2])
    expect(queue.now).toBe(4)
    expect(queue.nextTime).toBe(5)
  })

  it('refuses events of the past', () => {
    const queue = new EventQueue()
    queue.advance(3)
    expect(() => queue.at(2, () => undefined)).toThrow('already')
  })
})
