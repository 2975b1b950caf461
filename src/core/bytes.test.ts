import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ByteReader,
  ByteWriter,
  compareBytes,
  copyBytes,
  equalBytes,
  FormatError,
  latin1Bytes,
  latin1String,
  LimitError,
  Span,
  utf8Bytes,
  utf8Length,
  utf8String,
  viewOf
} from './bytes.js'

const bytes = fc.uint8Array({ maxLength: 400 })

describe('copies and comparisons', () => {
  it('copy any length from any place to any place', () => {
    fc.assert(
      fc.property(bytes, fc.nat(9), fc.nat(9), (source, skip, at) => {
        const offset = Math.min(skip, source.length)
        const length = source.length - offset
        const target = new Uint8Array(at + length + 3).fill(0xee)
        copyBytes(source, viewOf(source), offset, target, viewOf(target), at, length)
        expect(target.subarray(at, at + length)).toEqual(source.subarray(offset))
        expect(target.subarray(0, at).every((byte) => byte === 0xee)).toBe(true)
        expect(target.subarray(at + length).every((byte) => byte === 0xee)).toBe(true)
      })
    )
  })

  it('see the difference of a single byte', () => {
    fc.assert(
      fc.property(bytes, fc.nat(), (a, at) => {
        const b = a.slice()
        expect(equalBytes(viewOf(a), 0, viewOf(b), 0, a.length)).toBe(true)
        expect(compareBytes(a, b)).toBe(0)
        if (a.length === 0) return
        b[at % a.length] ^= 1
        expect(equalBytes(viewOf(a), 0, viewOf(b), 0, a.length)).toBe(false)
        expect(Math.sign(compareBytes(a, b))).toBe(Math.sign(Buffer.compare(a, b)))
      })
    )
  })
})

describe('text', () => {
  it('is the same as TextEncoder makes it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const encoded = utf8Bytes(text)
        expect(encoded).toEqual(new Uint8Array(Buffer.from(text, 'utf8')))
        expect(utf8Length(text)).toBe(encoded.length)
        expect(utf8String(encoded, 0, encoded.length)).toBe(text)
      })
    )
    expect(utf8Bytes('a\ud800b')).toEqual(new Uint8Array(Buffer.from('a\ud800b', 'utf8')))
  })

  it('that is not UTF-8 is refused as TextDecoder refuses it', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const decode = (input: Uint8Array): string | null => {
      try {
        return strict.decode(input)
      } catch {
        return null
      }
    }
    const pieces = fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0xbf,
      0xc1,
      0xc3,
      0xe0,
      0xed,
      0xa0,
      0xf0,
      0xf4,
      0x90
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), (codes) => {
        const input = Uint8Array.from(codes)
        const expected = decode(input)
        if (expected === null) expect(() => utf8String(input, 0, input.length)).toThrow(FormatError)
        else expect(utf8String(input, 0, input.length)).toBe(expected)
      }),
      { numRuns: 2000 }
    )
  })

  it('in latin-1 keeps every byte, also of long texts', () => {
    const all = Uint8Array.from({ length: 20_000 }, (_, i) => i * 7)
    expect(latin1Bytes(latin1String(all, 0, all.length))).toEqual(all)
    expect(latin1String(all, 3, 4)).toBe(latin1String(all.slice(3, 7), 0, 4))
  })
})

describe('ByteWriter and ByteReader', () => {
  const field = fc.oneof(
    fc.record({ kind: fc.constant('u8' as const), value: fc.nat(0xff) }),
    fc.record({ kind: fc.constant('u16' as const), value: fc.nat(0xffff) }),
    fc.record({ kind: fc.constant('u32' as const), value: fc.nat(0xffff_ffff) }),
    fc.record({ kind: fc.constant('f64' as const), value: fc.double() }),
    fc.record({ kind: fc.constant('varint' as const), value: fc.maxSafeNat() }),
    fc.record({ kind: fc.constant('utf8Text' as const), value: fc.string({ unit: 'binary' }) })
  )

  it('read back what was written, and nothing beyond', () => {
    fc.assert(
      fc.property(fc.array(field), (fields) => {
        const writer = new ByteWriter(1)
        for (const { kind, value } of fields) {
          if (kind === 'utf8Text') writer.utf8Text(value)
          else writer[kind](value)
        }
        const reader = ByteReader.over(writer.copy())
        for (const { kind, value } of fields) expect(reader[kind]()).toBe(value)
        expect(reader.remaining).toBe(0)
        expect(() => reader.u8()).toThrow(FormatError)
      })
    )
  })

  it('write slices, spans, latin-1 and lengths that become known later', () => {
    const writer = new ByteWriter(2)
    const at = writer.reserveU32()
    writer.span(Span.ofLatin1('ab'))
    writer.raw(latin1Bytes('cd'))
    writer.latin1Text('e\xff')
    writer.patchU32(at, writer.length)
    const reader = ByteReader.over(writer.written())
    expect(reader.u32()).toBe(writer.length)
    expect(reader.span(2, new Span()).latin1()).toBe('ab')
    expect(reader.copy(2)).toEqual(latin1Bytes('cd'))
    expect(reader.latin1Text()).toBe('e\xff')
    writer.reset()
    expect(writer.written().length).toBe(0)
  })

  it('refuse any input that is cut off or announces too much', () => {
    const writer = new ByteWriter()
    writer.varint(300)
    writer.utf8Text('hello')
    writer.f64(1)
    for (let end = 0; end < writer.length; end++) {
      const reader = ByteReader.over(writer.copy().subarray(0, end))
      expect(() => [reader.varint(), reader.utf8Text(), reader.f64()]).toThrow(FormatError)
    }
    expect(() => ByteReader.over(Uint8Array.of(100, 1)).count(1)).toThrow(FormatError)
    expect(() => ByteReader.over(new Uint8Array(20).fill(0xff)).varint()).toThrow(FormatError)
    expect(() =>
      new ByteReader().point(new Uint8Array(4), new DataView(new ArrayBuffer(4)), 2, 3)
    ).toThrow(FormatError)
  })

  it('stop at the limit and keep what they had', () => {
    const writer = new ByteWriter(4, 10)
    writer.raw(new Uint8Array(9).fill(1))
    expect(() => writer.u16(1)).toThrow(LimitError)
    expect(writer.length).toBe(9)
    writer.u8(2)
    expect(writer.written()[9]).toBe(2)
  })
})
