import { expect, it } from 'vitest'
import { FrameMemory } from './frame-memory.js'

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value)

it('uses the memory of what was given back, once', () => {
  const memory = new FrameMemory()
  const first = memory.copy(bytes(3000, 1))
  const second = memory.copy(bytes(3000, 2))
  memory.give(first)
  memory.give(first)
  const third = memory.copy(bytes(2500, 3))
  const fourth = memory.copy(bytes(2500, 4))
  expect(third.buffer).toBe(first.buffer)
  expect(fourth.buffer).not.toBe(first.buffer)
  expect([second, third, fourth].map((frame) => [frame.length, frame.at(-1)])).toEqual([
    [3000, 2],
    [2500, 3],
    [2500, 4]
  ])
})

it('keeps nothing that is not from it, and no more than its limit', () => {
  const memory = new FrameMemory()
  const foreign = bytes(4096, 1)
  memory.give(foreign)
  expect(memory.copy(bytes(4096, 2)).buffer).not.toBe(foreign.buffer)
  const frames = Array.from({ length: 20 }, () => memory.copy(bytes(1 << 20, 1)))
  for (const frame of frames) memory.give(frame)
  const known = new Set<unknown>(frames.map(({ buffer }) => buffer))
  const again = frames.map(() => memory.copy(bytes(1 << 20, 1)))
  expect(again.filter(({ buffer }) => known.has(buffer))).toHaveLength(16)
})

it('copies what is too small or too large to be kept', () => {
  const memory = new FrameMemory()
  for (const length of [0, 1, 500, (1 << 20) + 1]) {
    const frame = memory.copy(bytes(length, 7))
    memory.give(frame)
    expect(memory.copy(bytes(length, 7)).buffer).not.toBe(frame.buffer)
    expect(Buffer.compare(frame, bytes(length, 7))).toBe(0)
  }
})
