/**
 * Messages of a ring as bytes: for each kind what is on the wire, in its order. Writing and reading both follow it, so
 * they cannot differ.
 */
import type { ByteReader, ByteWriter } from '../../core/bytes.js'
import type { Family } from './family.js'
import { field, flags, readPieces, truths, writePieces, type Piece } from './layout.js'
import { RING_KINDS, type RingMessage } from './ring.js'
import {
  accepted,
  bytes,
  configuration,
  digest,
  entries,
  life,
  listOf,
  member,
  number,
  rest,
  slice,
  sliceOrEnd,
  status,
  u32,
  varint
} from './ring-parts.js'

type Kind = RingMessage['kind']
type MessageOf<K extends Kind> = Extract<RingMessage, { kind: K }>
type Layout<K extends Kind> = readonly Piece<MessageOf<K>>[]

const PLACE = [field('version', varint), field('slice', sliceOrEnd), field('position', varint)]

/** What an acceptor has accepted before, if it has: the second flag says so. */
const PROMISED: Piece<Pick<MessageOf<'ringPromise'>, 'ok' | 'highest' | 'accepted'>> = {
  write: (message, w) => {
    flags.write([message.ok, message.accepted !== undefined], w)
    w.varint(message.highest)
    if (message.accepted !== undefined) accepted.write(message.accepted, w)
  },
  read: (r, into) => {
    const [ok, has] = flags.read(r)
    into.ok = ok
    into.highest = r.varint()
    into.accepted = has ? accepted.read(r) : undefined
  }
}

const LAYOUTS: { readonly [K in Kind]: Layout<K> } = {
  ringHello: [field('memory', life)],
  ringHinted: [],
  ringBeat: [field('version', varint), truths('filled', 'drained'), field('records', varint)],
  ringWish: [field('member', member)],
  ringConfig: [field('cluster', u32), field('configuration', configuration)],
  ringPrepare: [field('version', varint), field('round', varint)],
  ringPromise: [field('version', varint), field('round', varint), PROMISED],
  ringPropose: [
    field('version', varint),
    field('round', varint),
    field('configuration', configuration)
  ],
  ringAccepted: [
    field('version', varint),
    field('round', varint),
    truths('ok'),
    field('highest', varint)
  ],
  ringRead: [field('id', varint), field('version', varint), field('payload', rest)],
  ringValue: [field('id', varint), field('status', status), field('payload', rest)],
  ringWrite: [field('id', varint), field('version', varint), field('payload', rest)],
  ringWritten: [field('id', varint), field('status', status), field('number', number)],
  ringItems: [field('payload', rest)],
  ringPull: [...PLACE, truths('whole')],
  ringPulled: [...PLACE, truths('whole', 'done'), field('payload', rest)],
  ringFetch: [field('keys', listOf(bytes, 1))],
  ringDigests: [
    field('version', varint),
    field('first', slice),
    field('last', slice),
    field('digests', listOf(digest, 10))
  ],
  ringDiffer: [field('version', varint), field('slices', listOf(slice, 2))],
  ringOffer: [field('id', varint), field('version', varint), field('entries', entries)],
  ringLacks: [field('id', varint), field('lacks', listOf(varint, 1))],
  ringScan: [
    field('id', varint),
    truths('inclusive'),
    field('start', bytes),
    field('end', bytes),
    field('limit', varint)
  ],
  ringScanned: [field('id', varint), truths('done'), field('payload', rest)]
}

export const RING: Family<RingMessage> = {
  kinds: RING_KINDS,
  encode: encodeRing,
  decode: decodeRing
}

function encodeRing(message: RingMessage, w: ByteWriter): void {
  writePieces(LAYOUTS[message.kind] as readonly Piece<RingMessage>[], message, w)
}

function decodeRing(kind: Kind, r: ByteReader): RingMessage {
  return readPieces(LAYOUTS[kind] as readonly Piece<RingMessage>[], { kind }, r)
}
