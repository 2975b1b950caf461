/** docs/protocol.md as text: every message with its number, its fields, and an example as the codec writes it. */
import { ByteWriter } from '../../src/core/bytes.js'
import {
  encodeEnvelopeHead,
  ENVELOPE_BYTES_MAX,
  PEER_PROTOCOL
} from '../../src/wire/peer/envelope.js'
import {
  encodeMessage,
  MESSAGE_KINDS,
  type Message,
  type MessageKind
} from '../../src/wire/peer/message.js'
import { ENTRIES, HEAD, HEAD_FIELDS, NOTES, PARTS } from './protocol-entries.js'

/** A writer that remembers which fields it was asked for, and where each begins. */
class TracingWriter extends ByteWriter {
  readonly types: string[] = []
  readonly starts: number[] = []
  #depth = 0

  override u8(value: number): void {
    this.#note('u8', () => {
      super.u8(value)
    })
  }
  override u16(value: number): void {
    this.#note('u16', () => {
      super.u16(value)
    })
  }
  override u32(value: number): void {
    this.#note('u32', () => {
      super.u32(value)
    })
  }
  override f64(value: number): void {
    this.#note('f64', () => {
      super.f64(value)
    })
  }
  override varint(value: number): void {
    this.#note('varint', () => {
      super.varint(value)
    })
  }
  override raw(bytes: Uint8Array): void {
    this.#note('raw', () => {
      super.raw(bytes)
    })
  }
  override latin1Text(text: string): void {
    this.#note('text', () => {
      super.latin1Text(text)
    })
  }
  override utf8Text(text: string): void {
    this.#note('utf8', () => {
      super.utf8Text(text)
    })
  }

  /** Texts write their length by another field, which is not one of the message. */
  #note(type: string, write: () => void): void {
    if (this.#depth === 0) {
      this.types.push(type)
      this.starts.push(this.length)
    }
    this.#depth++
    write()
    this.#depth--
  }

  /** The bytes as hex, a space between two fields. */
  hex(): string {
    const hex = Buffer.from(this.written()).toString('hex')
    const ends = [...this.starts.slice(1), this.length]
    return this.starts
      .map((start, i) => hex.slice(start * 2, ends[i] * 2))
      .filter((field) => field !== '')
      .join(' ')
  }
}

export interface Traced {
  readonly hex: string
  /** Of the fields, in order, the byte of the kind not counted. */
  readonly types: readonly string[]
}

export function exampleOf(kind: MessageKind): Message {
  return { kind, ...ENTRIES[kind].example } as Message
}

export function traceMessage(message: Message): Traced {
  const w = new TracingWriter()
  encodeMessage(message, w)
  return { hex: w.hex(), types: w.types.slice(1) }
}

export function traceHead(): Traced {
  const w = new TracingWriter()
  encodeEnvelopeHead(HEAD, w)
  return { hex: w.hex(), types: w.types }
}

/** The types that the fields allow, as a regular expression over `u8 varint …` with a space behind each. */
export function patternOf(fields: string): RegExp {
  return new RegExp(`^${expand(fields)}$`)
}

function expand(fields: string): string {
  return fields
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      if (!word.includes(':')) return word === '(' ? '(?:' : word
      const type = word.slice(word.indexOf(':') + 1)
      return type in PARTS ? `(?:${expand(PARTS[type])})` : `(?:${type} )`
    })
    .join('')
}

const SECTIONS: readonly (readonly [from: MessageKind, title: string, text: string])[] = [
  ['beat', 'Who is there', 'Membership, the table, load levels.'],
  [
    'offer',
    'Moving a bucket',
    'In the order of the stages; `ship` comes before them when a backup is to move.'
  ],
  ['batch', 'Replication', ''],
  ['forward', 'Commands that another node executes', ''],
  ['watches', 'Events', ''],
  ['merge', 'After a cut', ''],
  [
    'prepare',
    'Agreement',
    'Many registers travel in one message, since a dead node has hundreds of rows.'
  ],
  ['ask', 'Doors', 'What the Redis doors of two nodes tell each other.'],
  [
    'ringBeat',
    'The ring',
    "`version` is that of the sender's configuration: who knows a newer one refuses."
  ]
]

const WIDTH = 100

function wrapHex(hex: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const field of hex.split(' ')) {
    for (let at = 0; at < field.length; at += WIDTH) {
      const piece = field.slice(at, at + WIDTH)
      if (line !== '' && line.length + 1 + piece.length > WIDTH) {
        lines.push(line)
        line = piece
      } else line = line === '' ? piece : `${line} ${piece}`
    }
  }
  return [...lines, line]
}

function describeMessage(kind: MessageKind): string[] {
  const { about, fields } = ENTRIES[kind]
  const number = MESSAGE_KINDS.indexOf(kind).toString(16).padStart(2, '0')
  return [
    `### ${number} \`${kind}\``,
    '',
    about,
    '',
    '```',
    `${kind} = ${number}${fields === '' ? '' : ` ${fields}`}`,
    '',
    ...wrapHex(traceMessage(exampleOf(kind)).hex),
    '```',
    ''
  ]
}

const titles = new Map(SECTIONS.map(([from, title, text]) => [from, { title, text }]))

export function describeProtocol(): string {
  return [
    '# What nodes say to each other',
    '',
    `Version ${PEER_PROTOCOL}. Clients speak RESP and have no part in this; nodes do so on the same port, after a handshake. The`,
    'tables below are written by a test from the codec (`test/docs/protocol.test.ts`), which also decodes every example.',
    '',
    '## A link',
    '',
    'A node that wants to talk to another opens a connection to its port and says, as RESP commands (`src/runtime/handshake.ts`):',
    '',
    '```',
    'caller   OC.LINK protocol name nonce',
    "called   [name, nonce, HMAC-SHA256(secret, 'called' and everything above)]",
    "caller   OC.PROOF HMAC-SHA256(secret, 'caller' and everything above)",
    'called   OK',
    '```',
    '',
    `From then on both send envelopes: a u32 length (at most ${ENVELOPE_BYTES_MAX / 1024 / 1024} MiB), then so many bytes. Two nodes have one`,
    'ordered stream in each direction, whatever connections come and go: frames are numbered, kept until they were processed at the other end,',
    'and sent again from the first that was not ([0004](decisions/0004-one-stream-a-pair.md)). An envelope says where in the stream its',
    'frames belong, and up to which frame the sender has processed the other direction:',
    '',
    '```',
    `envelope = ${HEAD_FIELDS} ( frame:bytes )*`,
    '',
    ...wrapHex(traceHead().hex),
    '```',
    '',
    '`sent`: frames before the first one in here; `total`: frames ever put on this stream; lives are when the processes began, 0 while unknown.',
    'An acknowledgement counts only for who has processed `total` frames. A frame is one message. One that cannot be read ends the conversation, not the node.',
    '',
    '## Notation',
    '',
    'Everything is little endian. `u8` `u16` `u32` unsigned, `f64` a double, `varint` seven bits a byte, the lowest first, at most 2^53 - 1;',
    '`text` a varint length and so many bytes, one a character; `utf8` the same in UTF-8; `raw` the rest of the message, or as many bytes as the',
    'length before it says. Flags of one bit are a `u8` of 0 or 1. Fields are `name:type`; `( )*` is repeated as often as the count before it says,',
    '`( )?` may be absent, `|` separates alternatives. The first byte of a message is its number, here in hexadecimal.',
    '',
    '```',
    ...Object.entries(PARTS).map(([name, fields]) => `${name} = ${fields}`),
    '```',
    '',
    ...NOTES.map((line) => `- ${line}`),
    '',
    'What travels as bytes inside messages:',
    '',
    '```',
    'item     = length:u32 type:u8 version:f64 hash:u16 ( expiry:f64 )? key:bytes value:raw',
    'write    = bucket:u16 mask:u16 epoch:varint seq:varint version:f64 command:bytes',
    'note     = hash:varint client:text turn:varint floor:varint ms:f64 reply:bytes',
    'noted    = bucket:u16 fffe mask:u16 epoch:varint seq:varint note',
    'commands = number:varint count:varint floor:varint ( turn:varint )* command:raw',
    'replies  = number:varint ( reply:bytes )*',
    '```',
    '',
    '- `item` (`src/store/item.ts`): `type` 0 a tombstone, 1 a string, others the collections, 8 more with an expiry. On the ring `hash` is the number of copies.',
    '- `batch` holds any number of `write`, each with a `noted` before or behind it if it was forwarded, with the number that the bucket had there (`src/node/copies.ts`); commands are RESP, as the client sent them or made deterministic.',
    '- `forward` holds `commands`, `answer` holds `replies` (`src/node/door/lanes.ts`); `notes` holds any number of `note` (`src/node/once-notes.ts`).',
    '',
    ...MESSAGE_KINDS.flatMap((kind) => {
      const section = titles.get(kind)
      const head = section === undefined ? [] : [`## ${section.title}`, '']
      const text = section === undefined || section.text === '' ? [] : [section.text, '']
      return [...head, ...text, ...describeMessage(kind)]
    })
  ]
    .join('\n')
    .trimEnd()
    .concat('\n')
}
