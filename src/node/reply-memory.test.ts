import { expect, test } from 'vitest'
import { latin1Bytes, latin1String } from '../core/bytes.js'
import { ReplyMemory } from './reply-memory.js'
import type { Segment } from './segment.js'

const text = ({ bytes }: Segment): string =>
  bytes === undefined ? '' : latin1String(bytes, 0, bytes.length)

/** Of a length that is kept in a piece. */
const reply = (letter: string, length = 100): Uint8Array => latin1Bytes(letter.repeat(length))

test('replies that wait at the same time do not touch each other', () => {
  const memory = new ReplyMemory()
  const segments = ['a', 'b', 'c'].map((letter) => memory.keep(reply(letter), [], 1))
  expect(segments.map(text)).toEqual(['a', 'b', 'c'].map((letter) => letter.repeat(100)))
})

test('a copy is kept, whatever its length', () => {
  const memory = new ReplyMemory()
  for (const length of [1, 64, 65, 1000, 8 * 1024, 70_000]) {
    const bytes = reply('x', length)
    const segment = memory.keep(bytes, [], 1)
    bytes.fill(0x79)
    expect(text(segment)).toBe('x'.repeat(length))
  }
})

test('the memory begins anew only when nothing in it is waited for', () => {
  const memory = new ReplyMemory()
  const [first, second] = [memory.keep(reply('a'), [], 1), memory.keep(reply('b'), [], 1)]
  const { buffer, byteOffset } = first.bytes ?? reply('')
  memory.give(first)
  memory.keep(reply('c'), [], 1)
  expect(text(second)).toBe('b'.repeat(100))
  memory.give(second)
  const later = [memory.keep(reply('d'), [], 1), memory.keep(reply('e'), [], 1)]
  expect(later.some(({ bytes }) => bytes?.byteOffset === byteOffset)).toBe(false)
  expect(later[0].bytes?.buffer).toBe(buffer)
})

test('a piece serves again once all of it was given back, and giving twice counts once', () => {
  const memory = new ReplyMemory()
  const [first, second] = [memory.keep(reply('a'), [], 1), memory.keep(reply('b'), [], 1)]
  memory.give(first)
  memory.give(first)
  const third = memory.keep(reply('c'), [], 1)
  expect(text(second)).toBe('b'.repeat(100))
  memory.give(second)
  memory.give(third)
  expect(memory.keep(reply('d'), [], 1).bytes?.byteOffset).toBe(0)
})

test('more than one piece holds waits in others, which serve again', () => {
  const memory = new ReplyMemory()
  const kept = Array.from({ length: 100 }, (_, i) =>
    memory.keep(reply(String(i % 10), 4000), [], 1)
  )
  expect(kept.map(text)).toEqual(kept.map((_, i) => String(i % 10).repeat(4000)))
  const buffers = new Set(kept.map(({ bytes }) => bytes?.buffer))
  expect(buffers.size).toBe(7)
  kept.forEach((segment) => memory.give(segment))
  const again = kept.map((_, i) => memory.keep(reply(String(i % 10), 4000), [], 1))
  expect(again.map(text)).toEqual(kept.map((_, i) => String(i % 10).repeat(4000)))
  expect(again.every(({ bytes }) => buffers.has(bytes?.buffer))).toBe(true)
})

test('what waits for the same shares the list of what it waits for, and no other', () => {
  const memory = new ReplyMemory()
  const peer = { hasProcessed: () => false }
  const [one, two] = [
    { peer, frame: 1 },
    { peer, frame: 2 }
  ]
  const gathered = [one]
  const first = memory.keep(reply('a'), gathered, 1)
  const second = memory.keep(reply('b'), [one], 1)
  const third = memory.keep(reply('c'), [two], 1)
  gathered.push(two)
  expect(first.gates).toEqual([one])
  expect(second.gates).toBe(first.gates)
  expect(third.gates).toEqual([two])
})
