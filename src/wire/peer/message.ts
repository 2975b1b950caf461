/**
 * What nodes say to each other, each a frame of a stream: a kind byte, then the fields in the order below.
 * Control messages are objects; the payloads of `batch` and `items` stay bytes, written and read by those
 * who know them. A message that cannot be read ends the conversation, not the node.
 */
import { assert } from '../../core/assert.js'
import { ByteReader, FormatError, type ByteWriter } from '../../core/bytes.js'
import {
  AGREEMENT_KINDS,
  decodeAgreement,
  encodeAgreement,
  type AgreementMessage
} from './agreement.js'
import { decodeCopy, encodeCopy, isCopyKind, isCopyMessage, type CopyMessage } from './copy.js'
import {
  decodeDoor,
  DOOR_KINDS,
  encodeDoor,
  isDoorKind,
  isDoorMessage,
  type DoorMessage
} from './door.js'
import {
  decodeKnowledge,
  encodeKnowledge,
  isKnowledgeKind,
  isKnowledgeMessage,
  type KnowledgeMessage
} from './knowledge.js'
import { decodeMove, encodeMove, isMoveKind, isMoveMessage, type MoveMessage } from './move.js'
import { isRingKind, isRingMessage, RING_KINDS, type RingMessage } from './ring.js'
import { decodeRing, encodeRing } from './ring-codec.js'
import {
  decodeWatch,
  encodeWatch,
  isWatchKind,
  isWatchMessage,
  type WatchMessage
} from './watch.js'

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
  ...AGREEMENT_KINDS,
  ...DOOR_KINDS,
  ...RING_KINDS,
  'nothing'
]
const BYTES = new Map(MESSAGE_KINDS.map((kind, byte) => [kind, byte]))

export function encodeMessage(message: Message, w: ByteWriter): void {
  const byte = BYTES.get(message.kind)
  assert(byte !== undefined, 'a message kind without a byte')
  w.u8(byte)
  if (isCopyMessage(message)) encodeCopy(message, w)
  else if (isKnowledgeMessage(message)) encodeKnowledge(message, w)
  else if (isDoorMessage(message)) encodeDoor(message, w)
  else if (isMoveMessage(message)) encodeMove(message, w)
  else if (isWatchMessage(message)) encodeWatch(message, w)
  else if (isRingMessage(message)) encodeRing(message, w)
  else encodeAgreement(message, w)
}

export function decodeMessage(bytes: Uint8Array): Message {
  const r = ByteReader.over(bytes)
  const byte = r.u8()
  const kind = MESSAGE_KINDS[byte] as MessageKind | undefined
  if (kind === undefined) throw new FormatError(`unknown message kind ${byte}`)
  const message = decodeFields(kind, r)
  if (r.remaining > 0) throw new FormatError(`${r.remaining} bytes too many in a ${kind} message`)
  return message
}

function decodeFields(kind: MessageKind, r: ByteReader): Message {
  if (isCopyKind(kind)) return decodeCopy(kind, r)
  if (isKnowledgeKind(kind)) return decodeKnowledge(kind, r)
  if (isDoorKind(kind)) return decodeDoor(kind, r)
  if (isMoveKind(kind)) return decodeMove(kind, r)
  if (isWatchKind(kind)) return decodeWatch(kind, r)
  if (isRingKind(kind)) return decodeRing(kind, r)
  return decodeAgreement(kind, r)
}
