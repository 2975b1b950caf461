/**
 * What nodes say to each other, each a frame of a stream: a kind byte, then the fields in the order below.
 * Control messages are objects; the payloads of `batch` and `items` stay bytes, written and read by those
 * who know them. A message that cannot be read ends the conversation, not the node.
 */
import { assert } from '../../core/assert.js'
import { ByteReader, FormatError, type ByteWriter } from '../../core/bytes.js'
import { isNodeName, type NodeName } from '../../core/ids.js'
import { isMask } from '../../core/mask.js'
import type { MemberRecord, MemberState } from '../../core/membership/members.js'
import { MAX_COPIES, type Row } from '../../core/table.js'
import {
  AGREEMENT_KINDS,
  decodeAgreement,
  encodeAgreement,
  type AgreementMessage
} from './agreement.js'
import {
  decodeDoor,
  DOOR_KINDS,
  encodeDoor,
  isDoorKind,
  isDoorMessage,
  type DoorMessage
} from './door.js'
import { readAddress, readLife } from './envelope.js'
import { isRingKind, isRingMessage, RING_KINDS, type RingMessage } from './ring.js'
import { decodeRing, encodeRing } from './ring-codec.js'

export interface BucketRow {
  readonly bucket: number
  readonly row: Row
}

export type CopyRole = 'primary' | 'backup'

export type Message =
  /** Sent when there is nothing else to say: I live, and this is my table. */
  | {
      readonly kind: 'beat'
      readonly mask: number
      readonly digest: number
      /** Of the voters it knows. */
      readonly voters: number
      /** By its own clock. */
      readonly ms: number
    }
  | { readonly kind: 'members'; readonly members: readonly MemberRecord[] }
  /** A newcomer asks to be let in, and says how it places keys. */
  | { readonly kind: 'join'; readonly hash: string; readonly member: MemberRecord }
  | {
      readonly kind: 'welcome'
      readonly cluster: number
      readonly copies: number
      readonly hash: string
      readonly members: readonly MemberRecord[]
    }
  | { readonly kind: 'rows'; readonly mask: number; readonly rows: readonly BucketRow[] }
  /** Our tables differ: send me yours. */
  | { readonly kind: 'tableAsk' }
  /** In place of what a node that has left need not be told any more. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'levelAsk' }
  | {
      readonly kind: 'level'
      readonly primaries: number
      readonly backups: number
      readonly transferring: boolean
    }
  /** Stage `offer`: may I send you this bucket? */
  | {
      readonly kind: 'offer'
      readonly move: number
      readonly bucket: number
      readonly mask: number
      readonly epoch: number
      readonly role: CopyRole
      readonly beyondShare: boolean
      readonly items: number
      readonly reason: string
    }
  | { readonly kind: 'accept'; readonly move: number }
  | { readonly kind: 'busy'; readonly move: number; readonly reason: string }
  /** Stage `copy`: whole items, and the writes that follow those already sent are in `batch`. */
  | { readonly kind: 'items'; readonly move: number; readonly payload: Uint8Array }
  /** Stage `caught up`: that was all; `seq` is the bucket's write number so far. */
  | {
      readonly kind: 'caughtUp'
      readonly move: number
      readonly seq: number
      /** Copies of this bucket elsewhere may differ from this version on; 0 if none does. */
      readonly parted: number
    }
  | { readonly kind: 'cancel'; readonly move: number; readonly reason: string }
  /** A backup asks the primary to ship its copy to another node and to strike it. */
  | {
      readonly kind: 'ship'
      readonly bucket: number
      readonly mask: number
      readonly epoch: number
      readonly to: NodeName
      readonly beyondShare: boolean
      readonly reason: string
    }
  /** The primary could not, or did. */
  | {
      readonly kind: 'shipEnd'
      readonly bucket: number
      readonly done: boolean
      readonly reason: string
    }
  /** Writes of one turn, in order. */
  | { readonly kind: 'batch'; readonly payload: Uint8Array }
  /** The primary takes over at this write number (with the row that says so). */
  | {
      readonly kind: 'promoted'
      readonly bucket: number
      readonly epoch: number
      readonly seq: number
    }
  /** This backup has not the writes it should have: strike it, it wants a fresh copy. */
  | { readonly kind: 'behind'; readonly bucket: number; readonly epoch: number }
  /** The per-bucket heartbeat: what is pending, and up to which version everyone has seen deletions. */
  | { readonly kind: 'sync'; readonly buckets: readonly SyncMark[] }
  | {
      readonly kind: 'forward'
      readonly id: number
      readonly hops: number
      readonly acksAll: boolean
      readonly protocol: number
      /** Whose commands these are, whichever way they came; unique in the cluster. */
      readonly client: string
      /** By the receiver's own clock; after this they are not executed. 0: at any time. */
      readonly untilMs: number
      readonly payload: Uint8Array
    }
  | { readonly kind: 'answer'; readonly id: number; readonly payload: Uint8Array }
  /** All watches of one node's clients, from that node or from one that has heard them; the newest version counts. */
  | {
      readonly kind: 'watches'
      readonly node: NodeName
      readonly life: number
      readonly version: number
      readonly watches: readonly Watch[]
    }
  /** A write is on every copy: for those of the receiver's clients who watch its key. */
  | ({ readonly kind: 'event'; readonly mask: number } & WatchEvent)
  /** Events before this one may be missing. */
  | { readonly kind: 'gap' }
  /** What the target of a move has to know of events that may not be with their watchers yet, in pieces. */
  | {
      readonly kind: 'untold'
      readonly bucket: number
      readonly mask: number
      /** The first piece: replaces what was noted there. */
      readonly first: boolean
      /** Up to this write number some are missing; 0 if none. */
      readonly lostUpTo: number
      readonly events: readonly WatchEvent[]
    }
  /** Whole items of a copy whose node lost the primary role in a cut; the last piece says so. */
  | {
      readonly kind: 'merge'
      readonly bucket: number
      readonly mask: number
      readonly last: boolean
      readonly payload: Uint8Array
    }
  /** All of it was taken in, or none of it counts. */
  | {
      readonly kind: 'merged'
      readonly bucket: number
      readonly mask: number
      readonly done: boolean
    }
  /** What you said cannot be true; it was not taken. */
  | { readonly kind: 'refused'; readonly reason: string }
  | AgreementMessage
  | RingMessage
  | DoorMessage

export interface SyncMark {
  readonly bucket: number
  readonly epoch: number
  readonly seq: number
  /** Writes not yet acknowledged by this backup. */
  readonly pending: number
  /** Tombstones up to this version may go. */
  readonly seenVersion: number
  /** Copies elsewhere may differ from this version on; 0 if none does. */
  readonly parted: number
  /** Of so many of the last writes watchers may not have been told yet. */
  readonly untold: number
}

export interface Watch {
  /** Cluster-unique. */
  readonly client: string
  readonly pattern: string
}

/** What happened to a key, with the number of the write in its bucket. */
export interface WatchEvent {
  readonly seq: number
  readonly change: 'set' | 'deleted' | 'expired' | 'evicted'
  readonly key: string
  /** What Redis calls it, each name with its class before it: `$set gexpire`; empty where nobody wants to know. */
  readonly names: string
}

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

const CHANGES: readonly WatchEvent['change'][] = ['set', 'deleted', 'expired', 'evicted']
const STATES: readonly MemberState[] = ['alive', 'leaving', 'left']
const TEXT_MAX = 4096

export function encodeMessage(message: Message, w: ByteWriter): void {
  const byte = BYTES.get(message.kind)
  assert(byte !== undefined, 'a message kind without a byte')
  w.u8(byte)
  if (isDoorMessage(message)) {
    encodeDoor(message, w)
    return
  }
  if (isRingMessage(message)) {
    encodeRing(message, w)
    return
  }
  switch (message.kind) {
    case 'beat':
      w.u16(message.mask)
      w.u32(message.digest)
      w.varint(message.voters)
      w.f64(message.ms)
      return
    case 'members':
      writeMembers(message.members, w)
      return
    case 'join':
      w.latin1Text(message.hash)
      writeMember(message.member, w)
      return
    case 'welcome':
      w.u32(message.cluster)
      w.u8(message.copies)
      w.latin1Text(message.hash)
      writeMembers(message.members, w)
      return
    case 'rows':
      writeRows(message.mask, message.rows, w)
      return
    case 'tableAsk':
    case 'levelAsk':
    case 'nothing':
      return
    case 'level':
      w.varint(message.primaries)
      w.varint(message.backups)
      w.u8(message.transferring ? 1 : 0)
      return
    case 'offer':
      w.varint(message.move)
      w.u16(message.bucket)
      w.u16(message.mask)
      w.varint(message.epoch)
      w.u8(message.role === 'primary' ? 1 : 0)
      w.u8(message.beyondShare ? 1 : 0)
      w.varint(message.items)
      w.utf8Text(message.reason)
      return
    case 'accept':
      w.varint(message.move)
      return
    case 'busy':
    case 'cancel':
      w.varint(message.move)
      w.utf8Text(message.reason)
      return
    case 'items':
      w.varint(message.move)
      w.raw(message.payload)
      return
    case 'caughtUp':
      w.varint(message.move)
      w.varint(message.seq)
      w.f64(message.parted)
      return
    case 'ship':
      w.u16(message.bucket)
      w.u16(message.mask)
      w.varint(message.epoch)
      w.latin1Text(message.to)
      w.u8(message.beyondShare ? 1 : 0)
      w.utf8Text(message.reason)
      return
    case 'shipEnd':
      w.u16(message.bucket)
      w.u8(message.done ? 1 : 0)
      w.utf8Text(message.reason)
      return
    case 'batch':
      w.raw(message.payload)
      return
    case 'promoted':
      w.u16(message.bucket)
      w.varint(message.epoch)
      w.varint(message.seq)
      return
    case 'behind':
      w.u16(message.bucket)
      w.varint(message.epoch)
      return
    case 'sync':
      w.varint(message.buckets.length)
      for (const mark of message.buckets) {
        w.u16(mark.bucket)
        w.varint(mark.epoch)
        w.varint(mark.seq)
        w.varint(mark.pending)
        w.f64(mark.seenVersion)
        w.f64(mark.parted)
        w.varint(mark.untold)
      }
      return
    case 'forward':
      w.varint(message.id)
      w.u8(message.hops)
      w.u8(message.acksAll ? 1 : 0)
      w.u8(message.protocol)
      w.latin1Text(message.client)
      w.f64(message.untilMs)
      w.raw(message.payload)
      return
    case 'answer':
      w.varint(message.id)
      w.raw(message.payload)
      return
    case 'watches':
      w.latin1Text(message.node)
      w.f64(message.life)
      w.varint(message.version)
      w.varint(message.watches.length)
      for (const watch of message.watches) {
        w.utf8Text(watch.client)
        w.latin1Text(watch.pattern)
      }
      return
    case 'event':
      w.u16(message.mask)
      writeEvent(message, w)
      return
    case 'gap':
      return
    case 'untold':
      w.u16(message.bucket)
      w.u16(message.mask)
      w.u8(message.first ? 1 : 0)
      w.varint(message.lostUpTo)
      w.varint(message.events.length)
      for (const event of message.events) writeEvent(event, w)
      return
    case 'merge':
      w.u16(message.bucket)
      w.u16(message.mask)
      w.u8(message.last ? 1 : 0)
      w.raw(message.payload)
      return
    case 'merged':
      w.u16(message.bucket)
      w.u16(message.mask)
      w.u8(message.done ? 1 : 0)
      return
    case 'refused':
      w.utf8Text(message.reason)
      return
    default:
      encodeAgreement(message, w)
  }
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
  if (isDoorKind(kind)) return decodeDoor(kind, r)
  if (isRingKind(kind)) return decodeRing(kind, r)
  switch (kind) {
    case 'beat':
      return { kind, mask: readMask(r), digest: r.u32(), voters: r.varint(), ms: readMoment(r) }
    case 'members':
      return { kind, members: readMembers(r) }
    case 'join':
      return { kind, hash: r.latin1Text(), member: readMember(r) }
    case 'welcome':
      return {
        kind,
        cluster: r.u32(),
        copies: r.u8(),
        hash: r.latin1Text(),
        members: readMembers(r)
      }
    case 'rows':
      return { kind, ...readRows(r) }
    case 'tableAsk':
    case 'levelAsk':
    case 'nothing':
      return { kind }
    case 'level':
      return { kind, primaries: r.varint(), backups: r.varint(), transferring: readFlag(r) }
    case 'offer': {
      const [move, bucket, mask, epoch] = [r.varint(), r.u16(), readMask(r), r.varint()]
      if (bucket > mask) throw new FormatError(`bucket ${bucket} is beyond mask ${mask}`)
      const role = readFlag(r) ? 'primary' : 'backup'
      const beyondShare = readFlag(r)
      return {
        kind,
        move,
        bucket,
        mask,
        epoch,
        role,
        beyondShare,
        items: r.varint(),
        reason: readText(r)
      }
    }
    case 'accept':
      return { kind, move: r.varint() }
    case 'busy':
    case 'cancel':
      return { kind, move: r.varint(), reason: readText(r) }
    case 'items':
      return { kind, move: r.varint(), payload: readRest(r) }
    case 'caughtUp':
      return { kind, move: r.varint(), seq: r.varint(), parted: readMoment(r) }
    case 'ship': {
      const [bucket, mask, epoch] = [r.u16(), readMask(r), r.varint()]
      if (bucket > mask) throw new FormatError(`bucket ${bucket} is beyond mask ${mask}`)
      return {
        kind,
        bucket,
        mask,
        epoch,
        to: readName(r),
        beyondShare: readFlag(r),
        reason: readText(r)
      }
    }
    case 'shipEnd':
      return { kind, bucket: r.u16(), done: readFlag(r), reason: readText(r) }
    case 'batch':
      return { kind, payload: readRest(r) }
    case 'promoted':
      return { kind, bucket: r.u16(), epoch: r.varint(), seq: r.varint() }
    case 'behind':
      return { kind, bucket: r.u16(), epoch: r.varint() }
    case 'sync': {
      const buckets: SyncMark[] = []
      for (let count = r.count(22); count > 0; count--) {
        const [bucket, epoch, seq, pending] = [r.u16(), r.varint(), r.varint(), r.varint()]
        const [seenVersion, parted, untold] = [readMoment(r), readMoment(r), r.varint()]
        buckets.push({ bucket, epoch, seq, pending, seenVersion, parted, untold })
      }
      return { kind, buckets }
    }
    case 'forward': {
      const [id, hops, acksAll, protocol] = [r.varint(), r.u8(), readFlag(r), r.u8()]
      if (protocol !== 2 && protocol !== 3) throw new FormatError(`RESP${protocol} is not known`)
      const [client, untilMs] = [r.latin1Text(), readMoment(r)]
      return { kind, id, hops, acksAll, protocol, client, untilMs, payload: readRest(r) }
    }
    case 'answer':
      return { kind, id: r.varint(), payload: readRest(r) }
    case 'watches': {
      const [node, life, version] = [readName(r), readLife(r), r.varint()]
      const watches: Watch[] = []
      for (let count = r.count(2); count > 0; count--) {
        watches.push({ client: readText(r), pattern: r.latin1Text() })
      }
      return { kind, node, life, version, watches }
    }
    case 'event':
      return { kind, mask: readMask(r), ...readEvent(r) }
    case 'gap':
      return { kind }
    case 'untold': {
      const [bucket, mask, first, lostUpTo] = [r.u16(), readMask(r), readFlag(r), r.varint()]
      if (bucket > mask) throw new FormatError(`bucket ${bucket} is beyond mask ${mask}`)
      const events: WatchEvent[] = []
      for (let count = r.count(3); count > 0; count--) events.push(readEvent(r))
      return { kind, bucket, mask, first, lostUpTo, events }
    }
    case 'merge': {
      const [bucket, mask, last] = [r.u16(), readMask(r), readFlag(r)]
      return { kind, bucket, mask, last, payload: readRest(r) }
    }
    case 'merged':
      return { kind, bucket: r.u16(), mask: readMask(r), done: readFlag(r) }
    case 'refused':
      return { kind, reason: readText(r) }
    default:
      return decodeAgreement(kind, r)
  }
}

/** A time or a version: a number that ends somewhere. */
function readMoment(r: ByteReader): number {
  const moment = r.f64()
  if (!(moment >= 0 && moment <= Number.MAX_SAFE_INTEGER)) throw new FormatError('not a moment')
  return moment
}

function readMask(r: ByteReader): number {
  const mask = r.u16()
  if (!isMask(mask)) throw new FormatError(`not a mask: ${mask}`)
  return mask
}

function readFlag(r: ByteReader): boolean {
  const byte = r.u8()
  if (byte > 1) throw new FormatError(`not a flag: ${byte}`)
  return byte === 1
}

function readText(r: ByteReader): string {
  const text = r.utf8Text()
  if (text.length > TEXT_MAX) throw new FormatError('a text is too long')
  return text
}

function readRest(r: ByteReader): Uint8Array {
  return r.copy(r.remaining)
}

function readName(r: ByteReader): NodeName {
  const name = r.latin1Text()
  if (!isNodeName(name)) throw new FormatError('not a node name')
  return name
}

function writeEvent({ seq, change, key, names }: WatchEvent, w: ByteWriter): void {
  w.varint(seq)
  w.u8(CHANGES.indexOf(change))
  w.latin1Text(key)
  w.latin1Text(names)
}

function readEvent(r: ByteReader): WatchEvent {
  const seq = r.varint()
  const change = CHANGES[r.u8()] as WatchEvent['change'] | undefined
  if (change === undefined) throw new FormatError('not a change of a key')
  return { seq, change, key: r.latin1Text(), names: r.latin1Text() }
}

function writeMember(member: MemberRecord, w: ByteWriter): void {
  w.latin1Text(member.name)
  w.latin1Text(member.address)
  w.f64(member.life)
  w.varint(member.version)
  w.u8(STATES.indexOf(member.state))
  w.f64(member.weight)
  w.utf8Text(member.zone)
}

function readMember(r: ByteReader): MemberRecord {
  const [name, address, life, version] = [readName(r), readAddress(r), readLife(r), r.varint()]
  const state = STATES[r.u8()] as MemberState | undefined
  if (state === undefined) throw new FormatError('not a state of a member')
  const weight = r.f64()
  if (!(weight >= 0 && weight <= 1e6)) throw new FormatError('not a weight')
  return { name, address, life, version, state, weight, zone: readText(r) }
}

function writeMembers(members: readonly MemberRecord[], w: ByteWriter): void {
  w.varint(members.length)
  for (const member of members) writeMember(member, w)
}

function readMembers(r: ByteReader): MemberRecord[] {
  const members: MemberRecord[] = []
  for (let count = r.count(20); count > 0; count--) members.push(readMember(r))
  return members
}

/** Rows name nodes by their place in a list of the names that occur. */
function writeRows(mask: number, rows: readonly BucketRow[], w: ByteWriter): void {
  const names: NodeName[] = []
  const places = new Map<string, number>()
  const place = (name: NodeName): number => {
    const known = places.get(name)
    if (known !== undefined) return known
    places.set(name, names.length)
    return names.push(name) - 1
  }
  for (const { row } of rows) {
    if (row.primary !== null) place(row.primary)
    row.backups.forEach(place)
  }
  w.u16(mask)
  w.varint(names.length)
  for (const name of names) w.latin1Text(name)
  w.varint(rows.length)
  for (const { bucket, row } of rows) {
    w.u16(bucket)
    w.varint(row.epoch)
    w.varint(row.primary === null ? 0 : place(row.primary) + 1)
    w.u8(row.backups.length)
    for (const backup of row.backups) w.varint(place(backup))
  }
}

function readRows(r: ByteReader): { mask: number; rows: BucketRow[] } {
  const mask = readMask(r)
  const names: NodeName[] = []
  for (let count = r.count(2); count > 0; count--) names.push(readName(r))
  const named = (place: number): NodeName => {
    if (place >= names.length) throw new FormatError('a row names a node that is not listed')
    return names[place]
  }
  const rows: BucketRow[] = []
  for (let count = r.count(5); count > 0; count--) {
    const [bucket, epoch, primaryPlace, backupCount] = [r.u16(), r.varint(), r.varint(), r.u8()]
    if (bucket > mask) throw new FormatError(`bucket ${bucket} is beyond mask ${mask}`)
    if (backupCount >= MAX_COPIES) throw new FormatError('a row with too many backups')
    const primary = primaryPlace === 0 ? null : named(primaryPlace - 1)
    if (primary === null && backupCount > 0) throw new FormatError('backups without a primary')
    const backups: NodeName[] = []
    for (let i = 0; i < backupCount; i++) backups.push(named(r.varint()))
    if (new Set([primary, ...backups]).size !== backupCount + 1) {
      throw new FormatError('a row with two copies on one node')
    }
    rows.push({ bucket, row: { epoch, primary, backups } })
  }
  return { mask, rows }
}
