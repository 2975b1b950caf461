import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteReader, ByteWriter, latin1Bytes } from '../core/bytes.js'
import { OnceNotes, readNote, STALE, writeNote, type Note } from './once-notes.js'

function note(client: string, turn: number, more: Partial<Note> = {}): Note {
  return { hash: 1, client, turn, floor: 0, ms: turn, reply: latin1Bytes(`+${turn}`), ...more }
}

function texts(notes: OnceNotes): string[] {
  return notes.all().map(({ client, turn }) => `${client}${turn}`)
}

describe('notes of forwarded writes', () => {
  it('are found by client and turn', () => {
    const notes = new OnceNotes()
    for (let turn = 1; turn <= 3; turn++) notes.add(note('a', turn))
    notes.add(note('b', 2, { reply: latin1Bytes('+other') }))
    expect(notes.find('a', 2)).toEqual(latin1Bytes('+2'))
    expect(notes.find('b', 2)).toEqual(latin1Bytes('+other'))
    expect(notes.find('b', 1)).toBe(undefined)
    expect(notes.find('c', 1)).toBe(undefined)
  })

  it('go when their client has the answers', () => {
    const notes = new OnceNotes()
    for (let turn = 1; turn <= 5; turn++) notes.add(note('a', turn))
    notes.add(note('b', 1))
    notes.add(note('a', 6, { floor: 4 }))
    expect(texts(notes)).toEqual(['a4', 'a5', 'a6', 'b1'])
  })

  it('go when nobody can ask any more', () => {
    const notes = new OnceNotes()
    notes.add(note('a', 1, { ms: 1000 }))
    notes.add(note('b', 1, { ms: 2000 }))
    notes.add(note('a', 2, { ms: 3000 }))
    notes.sweep(2500)
    expect(texts(notes)).toEqual(['a1', 'a2'])
    expect(notes.isSure(0)).toBe(true)
  })

  it('of clients that write at the same time may stay a little longer than that, and never go sooner', () => {
    const notes = new OnceNotes()
    notes.add(note('a', 1, { ms: 100 }))
    notes.add(note('b', 1, { ms: 200 }))
    notes.add(note('a', 2, { ms: 300 }))
    notes.sweep(250)
    expect(texts(notes)).toEqual(['a1', 'a2', 'b1'])
    notes.sweep(301)
    expect([notes.size, notes.bytes]).toEqual([0, 0])
    expect(notes.isSure(0)).toBe(true)
  })

  it('share short answers that are the same, and no others', () => {
    const notes = new OnceNotes()
    const replies = ['+OK', '+OK', ':1', '+OK', 'x'.repeat(17), 'x'.repeat(17)]
    replies.forEach((reply, i) => notes.add(note('a', i + 1, { reply: latin1Bytes(reply) })))
    const found = replies.map((_, i) => notes.find('a', i + 1))
    expect(found).toEqual(replies.map((reply) => latin1Bytes(reply)))
    expect(found[1]).toBe(found[0])
    expect(found[5]).not.toBe(found[4])
  })

  it('are bounded, and it is known that some are missing', () => {
    const notes = new OnceNotes()
    for (let i = 0; i < 25_000; i++) notes.add(note(`c${i}`, 1, { ms: i }))
    expect(notes.size).toBe(20_000)
    expect(notes.find('c0', 1)).toBe(undefined)
    expect(notes.isSure(4999)).toBe(false)
    expect(notes.isSure(5000)).toBe(true)
    const large = new OnceNotes()
    for (let turn = 1; turn < 30; turn++) {
      large.add(note('a', turn, { reply: new Uint8Array(1024 * 1024) }))
    }
    expect(large.bytes).toBeLessThanOrEqual(16 * 1024 * 1024)
    expect(large.find('a', 29)).toBeDefined()
  })

  it('go with the keys they are about when a bucket is cut', () => {
    const notes = new OnceNotes()
    for (let hash = 0; hash < 8; hash++) notes.add(note('a', hash + 1, { hash }))
    expect(texts(notes.part((hash) => (hash & 3) === 1))).toEqual(['a2', 'a6', 'a8'])
  })

  /** One that was answered, was on its way a second time meanwhile, and must not be executed in either part. */
  it('leave behind in every part which answers their client has', () => {
    const notes = new OnceNotes()
    notes.add(note('a', 1, { hash: 0 }))
    notes.add(note('a', 2, { hash: 1, floor: 2 }))
    const parts = [0, 1].map((id) => notes.part((hash) => hash === id))
    for (const part of parts) expect(part.find('a', 1)).toBe(STALE)
    expect(parts[1].find('a', 2)).toEqual(latin1Bytes('+2'))
    const again = parts[0].part((hash) => hash === 0)
    expect(again.find('a', 1)).toBe(STALE)
    again.sweep(3)
    expect(again.size).toBe(0)
  })

  it('are the same after encoding, and the count is right whatever is added', () => {
    const any = fc.record({
      hash: fc.nat(16383),
      client: fc.constantFrom('a', 'b', 'c'),
      turn: fc.integer({ min: 1, max: 20 }),
      floor: fc.nat(20),
      ms: fc.nat(1000),
      reply: fc.uint8Array({ maxLength: 20 })
    })
    fc.assert(
      fc.property(fc.array(any, { maxLength: 40 }), (all) => {
        const notes = new OnceNotes()
        for (const one of all) notes.add(one)
        expect(notes.size).toBe(notes.all().length)
        expect(notes.bytes).toBe(notes.all().reduce((sum, { reply }) => sum + 64 + reply.length, 0))
        for (const one of all) {
          const writer = new ByteWriter()
          writeNote(writer, one)
          expect(readNote(ByteReader.over(writer.copy()))).toEqual(one)
        }
      })
    )
  })
})
