import { expect, test } from 'vitest'
import { latin1Bytes, latin1String, viewOf } from '../../core/bytes.js'
import { Clippings } from './clippings.js'

test('every copy is what it was cut from, whatever is cut after it', () => {
  const clippings = new Clippings()
  const lengths = Array.from({ length: 300 }, (_, i) => (i * 37) % 1300)
  const copies = lengths.map((length, i) => {
    const source = latin1Bytes('<' + String.fromCharCode(97 + (i % 26)).repeat(length) + '>')
    const copy = clippings.cut(source, viewOf(source), 1, 1 + length)
    source.fill(0)
    return copy
  })
  copies.forEach((copy, i) => {
    const wanted = String.fromCharCode(97 + (i % 26)).repeat(lengths[i])
    expect(latin1String(copy, 0, copy.length)).toBe(wanted)
  })
})

test('many lie in one piece of memory', () => {
  const clippings = new Clippings()
  const source = latin1Bytes('x'.repeat(100))
  const copies = Array.from({ length: 160 }, () => clippings.cut(source, viewOf(source), 0, 100))
  expect(new Set(copies.map(({ buffer }) => buffer)).size).toBe(2)
})
