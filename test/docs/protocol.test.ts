// docs/protocol.md has every message between nodes, with an example that the codec reads and writes back to the same
// bytes, and with fields that are those the codec writes. `UPDATE_DOCS=1` writes the page anew.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ByteReader } from '../../src/core/bytes.js'
import { decodeEnvelopeHead } from '../../src/wire/peer/envelope.js'
import { decodeMessage, MESSAGE_KINDS } from '../../src/wire/peer/message.js'
import { ENTRIES, HEAD, HEAD_FIELDS } from './protocol-entries.js'
import { describeProtocol, exampleOf, patternOf, traceHead, traceMessage } from './protocol-page.js'

const path = join(import.meta.dirname, '..', '..', 'docs', 'protocol.md')
if (process.env.UPDATE_DOCS === '1') writeFileSync(path, describeProtocol())
const page = existsSync(path) ? readFileSync(path, 'utf8') : ''

/** As they stand on the page: the number in the title, the fields, the hex. */
const shown = new Map(
  [
    ...page.matchAll(
      /^### ([0-9a-f]{2}) `(\w+)`\n\n[^\n]+\n\n```\n\w+ = [0-9a-f]{2}([^\n]*)\n\n([0-9a-f \n]+)```$/gm
    )
  ].map(([, number, kind, fields, hex]) => [
    kind,
    { number: parseInt(number, 16), fields: fields.trim(), hex: hex.replace(/\s/g, '') }
  ])
)

describe('docs/protocol.md', () => {
  test('is what the code says', () => {
    expect(page).toBe(describeProtocol())
  })

  test('has every message with its number, and no other', () => {
    expect([...shown].map(([kind, { number }]) => [number, kind])).toEqual([
      ...MESSAGE_KINDS.entries()
    ])
  })

  test.each(MESSAGE_KINDS)('%s: the example is read and written back to the same bytes', (kind) => {
    const bytes = Buffer.from(shown.get(kind)?.hex ?? '', 'hex')
    const message = decodeMessage(new Uint8Array(bytes))
    expect(message).toEqual(exampleOf(kind))
    expect(traceMessage(message).hex.replaceAll(' ', '')).toBe(bytes.toString('hex'))
  })

  test.each(MESSAGE_KINDS)('%s: the fields are those that are written', (kind) => {
    const { types } = traceMessage(exampleOf(kind))
    expect(types.map((type) => `${type} `).join('')).toMatch(patternOf(ENTRIES[kind].fields))
  })

  test('the head of an envelope, too', () => {
    const { hex, types } = traceHead()
    expect(types.map((type) => `${type} `).join('')).toMatch(patternOf(HEAD_FIELDS))
    const bytes = new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    expect(decodeEnvelopeHead(ByteReader.over(bytes))).toEqual(HEAD)
    expect(page.replace(/\s/g, '')).toContain(hex.replaceAll(' ', ''))
  })

  test('a wrong field would be seen', () => {
    expect('u16 u32 varint f64 ').toMatch(patternOf(ENTRIES.beat.fields))
    expect('u16 varint u32 f64 ').not.toMatch(patternOf(ENTRIES.beat.fields))
    expect('varint text ').not.toMatch(patternOf(ENTRIES.join.fields))
  })
})
