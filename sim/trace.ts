/**
 * What happened, one aligned line an event: when, where, what. The last events are kept in a ring and become
 * text only when somebody wants to read them, since nearly all runs pass. Every event also goes into the run's
 * digest: two runs are the same run if and only if their digests are.
 */
import { ByteReader } from '../src/core/bytes.js'
import { mix, hashText } from '../src/core/table.js'
import { decodeEnvelopeHead } from '../src/wire/peer/envelope.js'
import { decodeMessage, type Message } from '../src/wire/peer/message.js'
import { describeOperation, type Operation } from './operation.js'

/** What is in a line: plain text, or an envelope or operation that becomes text when the line is printed. */
type Detail = string | Uint8Array | Operation

/** Those in the ring are used again and again: there is one for every message of a run. */
interface Entry {
  time: number
  where: string
  what: string
  /** Not of envelopes, whose bytes are in the entry's own memory. */
  detail: string | Operation | undefined
  memory: Uint8Array
  length: number
}

const RING_LENGTH = 4096
const PAYLOAD_TEXT_MAX = 60

export class Trace {
  readonly #ring: Entry[] = []
  #next = 0
  #digest = 0x12345678
  #count = 0
  readonly #onLine: ((line: string) => void) | undefined

  /** With `onLine` every line is printed as it comes. */
  constructor(onLine?: (line: string) => void) {
    this.#onLine = onLine
  }

  get count(): number {
    return this.#count
  }

  add(time: number, where: string, what: string, detail: Detail): void {
    this.#count++
    let hash = mix(this.#digest ^ Math.round(time * 1000))
    hash = mix(hash ^ hashText(where) ^ Math.imul(hashText(what), 31))
    hash = mix(hash ^ hashDetail(detail))
    this.#digest = hash
    if (this.#next === this.#ring.length) this.#ring.push(createEntry())
    const entry = this.#ring[this.#next]
    entry.time = time
    entry.where = where
    entry.what = what
    keep(entry, detail)
    this.#next = (this.#next + 1) % RING_LENGTH
    if (this.#onLine !== undefined) {
      const line = format(entry)
      if (line !== undefined) this.#onLine(line)
    }
  }

  get digest(): string {
    return mix(this.#digest ^ this.#count)
      .toString(16)
      .padStart(8, '0')
  }

  /** The last lines, oldest first. Heartbeats and bare acknowledgements are left out. */
  last(count: number): string[] {
    const lines: string[] = []
    for (let i = 1; i <= this.#ring.length && lines.length < count; i++) {
      const entry = this.#ring[(this.#next - i + RING_LENGTH) % RING_LENGTH] as Entry | undefined
      if (entry === undefined) break
      const line = format(entry)
      if (line !== undefined) lines.push(line)
    }
    return lines.reverse()
  }
}

function createEntry(): Entry {
  return { time: 0, where: '', what: '', detail: undefined, memory: new Uint8Array(0), length: 0 }
}

/** The memory of an envelope is used again by whoever sent it, so a copy is kept. */
function keep(entry: Entry, detail: Detail): void {
  if (!(detail instanceof Uint8Array)) {
    entry.detail = detail
    return
  }
  entry.detail = undefined
  entry.length = detail.length
  if (entry.memory.length < detail.length) entry.memory = new Uint8Array(2 * detail.length)
  entry.memory.set(detail)
}

function format({ time, where, what, detail, memory, length }: Entry): string | undefined {
  const text = describeDetail(detail ?? memory.subarray(0, length))
  if (text === undefined) return undefined
  return `${(time / 1000).toFixed(6).padStart(11)}  ${where.padEnd(10)} ${what.padEnd(9)} ${text}`
}

function describeDetail(detail: Detail): string | undefined {
  if (typeof detail === 'string') return detail
  return detail instanceof Uint8Array ? describeEnvelope(detail) : describeOperation(detail)
}

/** The frames of an envelope in words; undefined where it only says that the sender lives. */
function describeEnvelope(bytes: Uint8Array): string | undefined {
  try {
    const reader = ByteReader.over(bytes)
    const head = decodeEnvelopeHead(reader)
    const frames: string[] = []
    while (reader.remaining > 0) {
      const message = decodeMessage(reader.copy(reader.varint()))
      if (message.kind !== 'beat') frames.push(describeMessage(message))
    }
    if (frames.length === 0) return undefined
    return `#${head.sent}/${head.total} ack ${head.acked}: ${frames.join('; ')}`
  } catch (error) {
    return `unreadable (${error instanceof Error ? error.message : 'no error'})`
  }
}

function describeMessage(message: Message): string {
  switch (message.kind) {
    case 'rows':
      return message.rows.length > 4
        ? `${message.rows.length} rows`
        : `rows ${message.rows
            .map(({ bucket, row }) => {
              const holders = [row.primary ?? 'nobody', ...row.backups].join(',')
              return `${bucket}@${row.epoch}=${holders}`
            })
            .join(' ')}`
    case 'members':
    case 'welcome':
      return `${message.kind} ${message.members.map((m) => `${m.name}:${m.state}`).join(' ')}`
    default: {
      const fields = Object.entries(message)
        .filter(([name]) => name !== 'kind')
        .map(([name, value]) => `${name}=${describeValue(value)}`)
      return `${message.kind}${fields.length > 0 ? ` ${fields.join(' ')}` : ''}`
    }
  }
}

function describeValue(value: unknown): string {
  if (value instanceof Uint8Array) return describeBytes(value)
  return JSON.stringify(value)
}

export function describeBytes(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < Math.min(bytes.length, PAYLOAD_TEXT_MAX); i++) {
    const byte = bytes[i]
    text += byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : byte === 0x20 ? '_' : '.'
  }
  return `${bytes.length}b"${text}"`
}

function hashDetail(detail: Detail): number {
  if (typeof detail === 'string') return hashText(detail)
  if (detail instanceof Uint8Array) return hashBytes(detail)
  const { id, key, outcome } = detail
  const value = outcome.kind === 'ok' ? String(outcome.value) : outcome.kind
  return mix(id ^ hashText(key) ^ Math.imul(hashText(value), 31))
}

function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 ^ bytes.length
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193)
  return hash
}
