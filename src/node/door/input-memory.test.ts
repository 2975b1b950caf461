import { expect, test } from 'vitest'
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import { InputBuffer } from './input-buffer.js'
import { InputMemory } from './input-memory.js'

const text = ({ bytes, start, end }: InputBuffer): string => latin1String(bytes, start, end - start)
const letters = (letter: string, length = 10_000): Uint8Array => latin1Bytes(letter.repeat(length))

test('what is left over of several clients at once does not meet', () => {
  const memory = new InputMemory()
  const buffers = ['a', 'b', 'c'].map((letter) => {
    const buffer = new InputBuffer(memory)
    buffer.lend(letters(letter))
    buffer.keep()
    return buffer
  })
  expect(buffers.map(text)).toEqual(['a', 'b', 'c'].map((letter) => letter.repeat(10_000)))
})

test('a large buffer goes from one client to the next, a small one stays', () => {
  const memory = new InputMemory()
  const [first, second] = [new InputBuffer(memory), new InputBuffer(memory)]
  first.append(letters('a'))
  const { bytes } = first
  first.consume(first.end)
  expect(first.bytes.length).toBe(0)
  second.append(letters('b'))
  expect(second.bytes).toBe(bytes)
  first.append(letters('c', 100))
  const small = first.bytes
  first.clear()
  first.append(letters('d', 100))
  expect(first.bytes).toBe(small)
  expect(text(second)).toBe('b'.repeat(10_000))
})

test('one that grows gives back what it had, and no buffer is given out twice', () => {
  const memory = new InputMemory()
  const grown = new InputBuffer(memory)
  grown.append(letters('a'))
  grown.append(letters('b', 100_000))
  const others = Array.from({ length: 4 }, () => new InputBuffer(memory))
  others.forEach((other, i) => other.append(letters(String(i))))
  expect(new Set([grown, ...others].map(({ bytes }) => bytes)).size).toBe(5)
  expect(text(grown)).toBe('a'.repeat(10_000) + 'b'.repeat(100_000))
  expect(others.map(text)).toEqual(others.map((_, i) => String(i).repeat(10_000)))
})

test('more than is worth keeping is left to the collector', () => {
  const memory = new InputMemory()
  const pieces = Array.from({ length: 20 }, () => memory.take(1024 * 1024))
  pieces.forEach((piece) => memory.give(piece))
  const again = pieces.map(() => memory.take(1024 * 1024))
  expect(again.filter((piece) => pieces.includes(piece))).toHaveLength(16)
})
