import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteReader, ByteWriter, latin1String, Span } from '../../core/bytes.js'
import { decodeValue } from './codec.js'
import type { HashValue } from './hash-value.js'
import { PackedDraft, PackedHash } from './packed-hash.js'

const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'ab', '\xff', '\0'),
  fc.constantFrom(126, 127, 128, 129, 400).map((length) => 'x'.repeat(length))
)

function read(packed: PackedHash): [string, string][] {
  const pairs: [string, string][] = []
  packed.rewind()
  while (packed.next()) {
    const { bytes, fieldOffset, fieldLength, valueOffset, valueLength } = packed
    pairs.push([
      latin1String(bytes, fieldOffset, fieldLength),
      latin1String(bytes, valueOffset, valueLength)
    ])
  }
  return pairs
}

it('is a Map in the bytes of a HashValue', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), text, text)), (steps) => {
      const draft = new PackedDraft()
      draft.clear()
      const model = new Map<string, string>()
      for (const [set, field, value] of steps) {
        const at = Span.ofLatin1(field)
        if (!set) expect(draft.delete(at)).toBe(model.delete(field))
        else if (draft.hasRoom(1, field.length + value.length)) {
          expect(draft.set(at, Span.ofLatin1(value))).toBe(!model.has(field))
          model.set(field, value)
        }
      }
      expect(read(draft)).toEqual([...model])
      const bytes = draft.pointTo(new Span()).copy()
      const hash = decodeValue('hash', ByteReader.over(bytes)) as HashValue
      expect(hash.isSmall).toBe(true)
      const writer = new ByteWriter()
      hash.encode(writer)
      expect(writer.copy()).toEqual(bytes)
      // And from anywhere in memory.
      const elsewhere = new Uint8Array([1, 2, 3, ...bytes])
      const span = Span.of(elsewhere)
      const packed = new PackedHash().point(span.bytes, span.view, 3)
      expect(read(packed)).toEqual([...model])
      const again = new PackedDraft()
      again.load(Span.of(bytes))
      expect(read(again)).toEqual([...model])
    }),
    { numRuns: 300 }
  )
})

it('has room for so many fields and bytes', () => {
  const draft = new PackedDraft()
  expect(draft.hasRoom(64, 0)).toBe(true)
  expect(draft.hasRoom(65, 0)).toBe(false)
  expect(draft.hasRoom(1, 2043)).toBe(true)
  expect(draft.hasRoom(1, 2044)).toBe(false)
  draft.set(Span.ofLatin1('f'), Span.ofLatin1('v'.repeat(2042)))
  expect(read(draft)).toEqual([['f', 'v'.repeat(2042)]])
  expect(draft.hasRoom(1, 0)).toBe(false)
})
