import { describe, expect, it } from 'vitest'
import { Pace } from './pace.js'

describe('the pace of a copy beside clients', () => {
  it('rests for as long as it takes to come down to its share of the time', () => {
    const pace = new Pace(0.2)
    expect(pace.dueMs).toBe(-Infinity)
    pace.sent(100)
    pace.arrived(102)
    // 2 ms of 10.
    expect(pace.dueMs).toBe(110)
  })

  it('counts one trip a batch, whatever else is acknowledged meanwhile', () => {
    const pace = new Pace(0.5)
    pace.sent(100)
    pace.arrived(101)
    pace.arrived(105)
    expect(pace.dueMs).toBe(102)
  })

  it('does not rest with all of the time', () => {
    const pace = new Pace(1)
    pace.sent(100)
    pace.arrived(103)
    expect(pace.dueMs).toBe(103)
  })

  it('takes a long silence for what it is, and not for the cost of a batch', () => {
    const pace = new Pace(0.2)
    pace.sent(0)
    pace.arrived(60_000)
    expect(pace.dueMs).toBe(60_040)
  })
})
