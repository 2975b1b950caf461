import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_CONFIG } from './config.js'
import { sustainedSlots } from './arrivals.js'
import { learnDurations } from './durations.js'
import type { FinishedJob, JobFacts } from './facts.js'
import { pack } from './packing.js'
import { findUnmet } from './resources.js'
import { Room } from './room.js'
import { minimumAt } from './schedule.js'
import { formatDuration, listNames } from './text.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = 1_700_006_400_000

function ended(durationMs: number, changes: Partial<FinishedJob> = {}): FinishedJob {
  const startedAt = NOW - durationMs
  const submittedAt = startedAt - MINUTE
  return { id: '1', submittedAt, startedAt, endedAt: NOW, slots: 1, ...changes }
}

const waiting = (changes: Partial<JobFacts> = {}): JobFacts => ({
  id: '1',
  state: 'queued',
  submittedAt: NOW,
  slots: 1,
  tasks: 1,
  ...changes
})

describe('durations', () => {
  test('the mean for a new job, the mean rest of the longer ones for a running one', () => {
    const known = learnDurations([ended(MINUTE), ended(2 * MINUTE), ended(9 * MINUTE)], 0)
    expect(known.expect(waiting())).toBe(4 * MINUTE)
    expect(known.remaining(waiting({ startedAt: NOW }), NOW)).toBe(4 * MINUTE)
    expect(known.remaining(waiting({ startedAt: NOW - 1.5 * MINUTE }), NOW)).toBe(4 * MINUTE)
    expect(known.remaining(waiting({ startedAt: NOW - 5 * MINUTE }), NOW)).toBe(4 * MINUTE)
    expect(known.remaining(waiting({ startedAt: NOW - 20 * MINUTE }), NOW)).toBe(10 * MINUTE)
    const limited = waiting({ startedAt: NOW - 5 * MINUTE, timeLimitMs: 6 * MINUTE })
    expect(known.remaining(limited, NOW)).toBe(MINUTE)
  })

  test('a submission in 1970 is no wait, and no record spoils the others', () => {
    const records = [
      ended(MINUTE),
      ended(MINUTE, { submittedAt: 0 }),
      ended(MINUTE, { startedAt: 0 }),
      ended(MINUTE, { endedAt: NaN }),
      ended(-5 * MINUTE),
      ended(MINUTE, { endedAt: NOW - 10 * HOUR })
    ]
    const known = learnDurations(records, NOW - 3 * HOUR)
    expect(known).toMatchObject({ count: 2, meanMs: MINUTE, waitMeanMs: MINUTE })
  })

  test('five of a family foretell the family', () => {
    const family = Array.from({ length: 5 }, () => ended(10 * MINUTE, { family: 'a' }))
    const known = learnDurations([...family, ended(70 * MINUTE, { family: 'b' })], 0)
    expect(known.expect(waiting({ family: 'a' }))).toBe(10 * MINUTE)
    expect(known.expect(waiting({ family: 'b' }))).toBe(20 * MINUTE)
  })
})

test('a stream of jobs is sustained, a burst is not', () => {
  const each = (ms: number): FinishedJob => ended(6 * MINUTE, { submittedAt: NOW - ms })
  const stream = Array.from({ length: 60 }, (_, i) => each(i * MINUTE + 1))
  const slots = (finished: FinishedJob[]): number =>
    sustainedSlots(
      {
        at: NOW,
        hosts: [],
        jobs: [],
        finished,
        provider: { booting: [], bootFailures: [], capacityFailures: [] }
      },
      learnDurations(finished, 0),
      NOW
    )
  expect(slots(stream)).toBeCloseTo(6, 5)
  expect(slots(Array.from({ length: 500 }, () => each(5 * MINUTE)))).toBe(0)
  expect(slots(Array.from({ length: 500 }, () => each(30 * MINUTE)))).toBe(0)
})

test('the packing of one-slot jobs is a division rounded up, beside what is free', () => {
  fc.assert(
    fc.property(
      fc.nat(500),
      fc.array(fc.nat(8), { maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (tasks, free, slots) => {
        const template = { slots, queues: [] }
        const room = new Room({ queues: [], hosts: [], template })
        const create = (index: number) => room.binOfTemplate(template, `new ${index}`)
        const bins = free.map((room1, i) => ({ ...create(i), free: room1 }))
        const items = tasks === 0 ? [] : [{ shape: room.shapeOf(waiting()), tasks }]
        const packing = pack({ room, items, bins, create, createMax: 1000 })
        const inside = free.reduce((sum, each) => sum + each, 0)
        expect(packing).toEqual({
          placed: Math.min(tasks, inside),
          unplaced: Math.max(0, tasks - inside),
          needed: Math.max(0, Math.ceil((tasks - inside) / slots))
        })
      }
    )
  )
})

test('packing never overfills, and what is given back is free again', () => {
  const template = {
    slots: 8,
    queues: [
      { queue: 'a', slots: 4 },
      { queue: 'b', slots: 6 }
    ]
  }
  const room = new Room({ queues: [], hosts: [], template })
  const bin = room.binOfTemplate(template, 'x')
  const [any, onlyA] = [waiting({ slots: 3 }), waiting({ slots: 3, queues: ['a'] })].map((job) =>
    room.shapeOf(job)
  )
  expect(room.fit(onlyA, bin)).toBe(1)
  // One in queue a and two in queue b would be nine slots, and the host has eight.
  expect(room.fit(any, bin)).toBe(2)
  room.take(any, bin, 2)
  expect(bin).toMatchObject({ free: 2, queueFree: [1, 3] })
  expect(room.fit(onlyA, bin)).toBe(0)
})

test('requests: text is equal, one of several or begins alike, numbers are a minimum', () => {
  const offered = { arch: 'lx-amd64', memoryMb: 8000 }
  expect(findUnmet(offered, { arch: 'lx-amd64', memoryMb: 8000 })).toBeUndefined()
  expect(findUnmet(offered, { arch: 'sol|lx-*' })).toBeUndefined()
  expect(findUnmet(offered, { arch: 'lx' })).toBe('arch')
  expect(findUnmet(offered, { memoryMb: 8001 })).toBe('memoryMb')
  expect(findUnmet(offered, { gpu: 1 })).toBe('gpu')
})

test('the minimum of the schedule, never above the maximum', () => {
  const monday = Date.UTC(2023, 10, 13)
  const office = { days: [1, 2, 3, 4, 5], fromMinute: 8 * 60, toMinute: 18 * 60, hostsMin: 4 }
  const at = (hours: number, hostsMax = 10): number =>
    minimumAt({ ...DEFAULT_CONFIG, hostsMax, schedule: [office] }, monday + hours * HOUR)
  expect([at(7.99), at(8), at(17.99), at(18), at(5 * 24 + 9)]).toEqual([1, 4, 4, 1, 1])
  expect(at(9, 3)).toBe(3)
})

test('figures for people', () => {
  expect([59_400, 119_000, 16 * MINUTE, 26 * HOUR + 5 * MINUTE].map(formatDuration)).toEqual([
    '59 s',
    '119 s',
    '16 min',
    '26 h 05 min'
  ])
  expect(listNames(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('a, b, c, d, e and 2 more')
})
