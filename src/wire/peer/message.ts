/**
 * What nodes say to each other, each a frame of a stream: a kind byte, then the fields in the order below.
 * Control messages are objects; the payloads of `batch` and `items` stay bytes, written and read by those
 * who know them. A message that cannot be read ends the conversation, not the node.
 */
import { assert } from '../../core/assert.js'
import { ByteReader, FormatError, type ByteWriter } from '../../core/bytes.js'
import { AGREEMENT, type AgreementMessage } from './agreement.js'
import { COPY, type CopyMessage } from './copy.js'
import { DOOR, type DoorMessage } from './door.js'
import type { Family } from './family.js'
import { KNOWLEDGE, type KnowledgeMessage } from './knowledge.js'
import { MOVE, type MoveMessage } from './move.js'
import type { RingMessage } from './ring.js'
import { RING } from './ring-codec.js'
import { WATCH, type WatchMessage } from './watch.js'

export type Message =
  | KnowledgeMessage
  | MoveMessage
  | CopyMessage
  | WatchMessage
  | AgreementMessage
  | DoorMessage
  | RingMessage

export type MessageKind = Message['kind']

/** The byte of a kind is its place here; the order is the protocol. */
export const MESSAGE_KINDS: readonly MessageKind[] = [
  'beat',
  'members',
  'join',
  'welcome',
  'rows',
  'tableAsk',
  'levelAsk',
  'level',
  'offer',
  'accept',
  'busy',
  'items',
  'caughtUp',
  'cancel',
  'ship',
  'shipEnd',
  'batch',
  'promoted',
  'behind',
  'sync',
  'forward',
  'answer',
  'watches',
  'event',
  'gap',
  'untold',
  'merge',
  'merged',
  'refused',
  ...AGREEMENT.kinds,
  ...DOOR.kinds,
  ...RING.kinds,
  'nothing'
]
const FAMILIES: readonly Family<Message>[] = [KNOWLEDGE, MOVE, COPY, WATCH, AGREEMENT, DOOR, RING]

interface KindCodec {
  readonly kind: MessageKind
  readonly byte: number
  readonly family: Family<Message>
}

const BY_BYTE: readonly KindCodec[] = MESSAGE_KINDS.map((kind, byte) => {
  const family = FAMILIES.find(({ kinds }) => kinds.includes(kind))
  assert(family !== undefined, `a message of the kind ${kind} belongs to no family`)
  return { kind, byte, family }
})
const BY_KIND: ReadonlyMap<string, KindCodec> = new Map(BY_BYTE.map((each) => [each.kind, each]))

export function encodeMessage(message: Message, w: ByteWriter): void {
  const codec = BY_KIND.get(message.kind)
  assert(codec !== undefined, 'a message kind without a byte')
  w.u8(codec.byte)
  codec.family.encode(message, w)
}

export function decodeMessage(bytes: Uint8Array): Message {
  const r = ByteReader.over(bytes)
  const byte = r.u8()
  const codec = BY_BYTE.at(byte)
  if (codec === undefined) throw new FormatError(`unknown message kind ${byte}`)
  const { kind, family } = codec
  const message = family.decode(kind, r)
  if (r.remaining > 0) throw new FormatError(`${r.remaining} bytes too many in a ${kind} message`)
  return message
}
