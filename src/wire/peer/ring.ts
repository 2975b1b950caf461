/**
 * What the nodes of a ring say to each other, as bytes. Records travel as the store's items (src/store/item.ts), with
 * the record's `from` where buckets have their placement hash. `version` is that of the sender's configuration:
 * whoever knows a newer one refuses, so that nobody reads or writes by a ring that is no more.
 *
 *   ringBeat      version flags records               flags: 1 filled, 2 drained
 *   ringWish      member                              ringConfig   cluster configuration
 *   ringPrepare   version round                       ringPromise  version round flags highest (ballot configuration)?
 *   ringPropose   version round configuration         ringAccepted version round flags highest
 *   ringRead      id version key                      ringValue    id status item?
 *   ringWrite     id version item                     ringWritten  id status number
 *   ringItems     item*
 *   ringPull      version slice position flags        ringPulled   version slice position flags payload
 *   ringFetch     count key*                          (answered by ringItems)
 *   ringDigests   version first last count (slice u32 u32)*
 *   ringDiffer    version count slice*
 *   ringOffer     id version count (key number u32)*    ringLacks    id count index*
 *   ringScan      id after flags end limit            ringScanned  id flags item*
 *   member        name life address url zone positions positions flags     flags: 1 hollow, 2 leaving
 *   configuration version stage copies count member*  positions    count i32*
 */
import type { Ballot } from '../../core/agreement/ballot.js'
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import { isNodeName } from '../../core/ids.js'
import {
  RING_STAGES,
  type RingConfiguration,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import { VNODES_MAX } from '../../core/placement/ring.js'
import { readAddress, readLife } from './envelope.js'

/** `stale`: the asker's configuration is old; `hollow`: this node may lack what it is asked for. */
export const RING_STATUSES = ['ok', 'newer', 'stale', 'hollow'] as const
export type RingStatus = (typeof RING_STATUSES)[number]

export type RingMessage =
  | {
      readonly kind: 'ringBeat'
      readonly version: number
      /** It has everything this configuration gives it. */
      readonly filled: boolean
      /** It holds nothing any more. */
      readonly drained: boolean
      readonly records: number
    }
  /** Please make this my record. */
  | { readonly kind: 'ringWish'; readonly member: RingMemberRecord }
  /** This is decided. */
  | {
      readonly kind: 'ringConfig'
      readonly cluster: number
      readonly configuration: RingConfiguration
    }
  | { readonly kind: 'ringPrepare'; readonly version: number; readonly round: number }
  | {
      readonly kind: 'ringPromise'
      readonly version: number
      readonly round: number
      readonly ok: boolean
      readonly highest: number
      readonly accepted:
        { readonly ballot: Ballot; readonly configuration: RingConfiguration } | undefined
    }
  | {
      readonly kind: 'ringPropose'
      readonly version: number
      readonly round: number
      readonly configuration: RingConfiguration
    }
  | {
      readonly kind: 'ringAccepted'
      readonly version: number
      readonly round: number
      readonly ok: boolean
      readonly highest: number
    }
  | {
      readonly kind: 'ringRead'
      readonly id: number
      readonly version: number
      /** The key. */
      readonly payload: Uint8Array
    }
  /** The item; empty: nothing is known of the key. */
  | {
      readonly kind: 'ringValue'
      readonly id: number
      readonly status: RingStatus
      readonly payload: Uint8Array
    }
  | {
      readonly kind: 'ringWrite'
      readonly id: number
      readonly version: number
      readonly payload: Uint8Array
    }
  /** With `newer`, the version that is held. */
  | {
      readonly kind: 'ringWritten'
      readonly id: number
      readonly status: RingStatus
      readonly number: number
    }
  | { readonly kind: 'ringItems'; readonly payload: Uint8Array }
  /** Give me what I should have and may not have, from this place on. */
  | {
      readonly kind: 'ringPull'
      readonly version: number
      readonly slice: number
      readonly position: number
      /** Whole items; else only keys and versions. */
      readonly whole: boolean
    }
  | {
      readonly kind: 'ringPulled'
      readonly version: number
      /** Where to go on. */
      readonly slice: number
      readonly position: number
      readonly whole: boolean
      readonly done: boolean
      readonly payload: Uint8Array
    }
  | { readonly kind: 'ringFetch'; readonly keys: readonly Uint8Array[] }
  /** Of what we both hold in these slices; those left out are empty. */
  | {
      readonly kind: 'ringDigests'
      readonly version: number
      readonly first: number
      readonly last: number
      readonly digests: readonly SliceDigest[]
    }
  /** In these we differ: tell me what you have. */
  | { readonly kind: 'ringDiffer'; readonly version: number; readonly slices: readonly number[] }
  /** I have these; which of them do you lack? */
  | {
      readonly kind: 'ringOffer'
      readonly id: number
      readonly version: number
      readonly entries: readonly OfferEntry[]
    }
  | { readonly kind: 'ringLacks'; readonly id: number; readonly lacks: readonly number[] }
  | {
      readonly kind: 'ringScan'
      readonly id: number
      readonly start: Uint8Array
      readonly inclusive: boolean
      /** Exclusive; empty: to the last key. */
      readonly end: Uint8Array
      readonly limit: number
    }
  | {
      readonly kind: 'ringScanned'
      readonly id: number
      readonly done: boolean
      readonly payload: Uint8Array
    }

export interface SliceDigest {
  readonly slice: number
  readonly first: number
  readonly second: number
}

export interface OfferEntry {
  readonly key: Uint8Array
  readonly version: number
  /** Of the record's contents: two writers may have given out one version. 0 for what is deleted. */
  readonly check: number
}

export const RING_KINDS = [
  'ringBeat',
  'ringWish',
  'ringConfig',
  'ringPrepare',
  'ringPromise',
  'ringPropose',
  'ringAccepted',
  'ringRead',
  'ringValue',
  'ringWrite',
  'ringWritten',
  'ringItems',
  'ringPull',
  'ringPulled',
  'ringFetch',
  'ringDigests',
  'ringDiffer',
  'ringOffer',
  'ringLacks',
  'ringScan',
  'ringScanned'
] as const satisfies readonly RingMessage['kind'][]

const KIND_SET: ReadonlySet<string> = new Set(RING_KINDS)

export function isRingKind(kind: string): kind is RingMessage['kind'] {
  return KIND_SET.has(kind)
}

export function isRingMessage(message: { readonly kind: string }): message is RingMessage {
  return isRingKind(message.kind)
}

/** The circle is cut into so many slices; a record lies in that of its position. */
export const SLICES = 4096

const URL_MAX = 2048
const ZONE_MAX = 63
const MEMBERS_MAX = 1024

export function encodeRing(message: RingMessage, w: ByteWriter): void {
  switch (message.kind) {
    case 'ringBeat':
      w.varint(message.version)
      w.u8(flags(message.filled, message.drained))
      w.varint(message.records)
      return
    case 'ringWish':
      writeMember(message.member, w)
      return
    case 'ringConfig':
      w.u32(message.cluster)
      writeConfiguration(message.configuration, w)
      return
    case 'ringPrepare':
      w.varint(message.version)
      w.varint(message.round)
      return
    case 'ringPromise':
      writePromise(message, w)
      return
    case 'ringPropose':
      w.varint(message.version)
      w.varint(message.round)
      writeConfiguration(message.configuration, w)
      return
    case 'ringAccepted':
      w.varint(message.version)
      w.varint(message.round)
      w.u8(flags(message.ok, false))
      w.varint(message.highest)
      return
    case 'ringRead':
      w.varint(message.id)
      w.varint(message.version)
      w.raw(message.payload)
      return
    case 'ringValue':
      w.varint(message.id)
      w.u8(RING_STATUSES.indexOf(message.status))
      w.raw(message.payload)
      return
    case 'ringWrite':
      w.varint(message.id)
      w.varint(message.version)
      w.raw(message.payload)
      return
    case 'ringWritten':
      w.varint(message.id)
      w.u8(RING_STATUSES.indexOf(message.status))
      w.f64(message.number)
      return
    default:
      encodeTransfer(message, w)
  }
}

type Transfer = Extract<
  RingMessage,
  {
    kind:
      | 'ringItems'
      | 'ringPull'
      | 'ringPulled'
      | 'ringFetch'
      | 'ringDigests'
      | 'ringDiffer'
      | 'ringOffer'
      | 'ringLacks'
      | 'ringScan'
      | 'ringScanned'
  }
>

function encodeTransfer(message: Transfer, w: ByteWriter): void {
  switch (message.kind) {
    case 'ringItems':
      w.raw(message.payload)
      return
    case 'ringPull':
      writePlace(message, w)
      w.u8(flags(message.whole, false))
      return
    case 'ringPulled':
      writePlace(message, w)
      w.u8(flags(message.whole, message.done))
      w.raw(message.payload)
      return
    case 'ringFetch':
      w.varint(message.keys.length)
      for (const key of message.keys) writeBytes(key, w)
      return
    case 'ringDigests':
      w.varint(message.version)
      w.u16(message.first)
      w.u16(message.last)
      w.varint(message.digests.length)
      for (const { slice, first, second } of message.digests) {
        w.u16(slice)
        w.u32(first)
        w.u32(second)
      }
      return
    case 'ringDiffer':
      w.varint(message.version)
      w.varint(message.slices.length)
      for (const slice of message.slices) w.u16(slice)
      return
    case 'ringOffer':
      w.varint(message.id)
      w.varint(message.version)
      writeEntries(message.entries, w)
      return
    case 'ringLacks':
      w.varint(message.id)
      w.varint(message.lacks.length)
      for (const index of message.lacks) w.varint(index)
      return
    case 'ringScan':
      w.varint(message.id)
      w.u8(flags(message.inclusive, false))
      writeBytes(message.start, w)
      writeBytes(message.end, w)
      w.varint(message.limit)
      return
    case 'ringScanned':
      w.varint(message.id)
      w.u8(flags(message.done, false))
      w.raw(message.payload)
  }
}

export function decodeRing(kind: RingMessage['kind'], r: ByteReader): RingMessage {
  switch (kind) {
    case 'ringBeat': {
      const version = r.varint()
      const [filled, drained] = readFlags(r)
      return { kind, version, filled, drained, records: r.varint() }
    }
    case 'ringWish':
      return { kind, member: readMember(r) }
    case 'ringConfig':
      return { kind, cluster: r.u32(), configuration: readConfiguration(r) }
    case 'ringPrepare':
      return { kind, version: r.varint(), round: r.varint() }
    case 'ringPromise':
      return readPromise(r)
    case 'ringPropose':
      return {
        kind,
        version: r.varint(),
        round: r.varint(),
        configuration: readConfiguration(r)
      }
    case 'ringAccepted': {
      const [version, round, [ok]] = [r.varint(), r.varint(), readFlags(r)]
      return { kind, version, round, ok, highest: r.varint() }
    }
    case 'ringRead':
      return { kind, id: r.varint(), version: r.varint(), payload: r.copy(r.remaining) }
    case 'ringValue':
      return { kind, id: r.varint(), status: readStatus(r), payload: r.copy(r.remaining) }
    case 'ringWrite':
      return { kind, id: r.varint(), version: r.varint(), payload: r.copy(r.remaining) }
    case 'ringWritten':
      return { kind, id: r.varint(), status: readStatus(r), number: readNumber(r) }
    default:
      return decodeTransfer(kind, r)
  }
}

function decodeTransfer(kind: Transfer['kind'], r: ByteReader): Transfer {
  switch (kind) {
    case 'ringItems':
      return { kind, payload: r.copy(r.remaining) }
    case 'ringPull': {
      const place = readPlace(r)
      const [whole] = readFlags(r)
      return { kind, ...place, whole }
    }
    case 'ringPulled': {
      const place = readPlace(r)
      const [whole, done] = readFlags(r)
      return { kind, ...place, whole, done, payload: r.copy(r.remaining) }
    }
    case 'ringFetch': {
      const keys: Uint8Array[] = []
      for (let count = r.count(1); count > 0; count--) keys.push(readBytes(r))
      return { kind, keys }
    }
    case 'ringDigests': {
      const [version, first, last] = [r.varint(), readSlice(r), readSlice(r)]
      const digests: SliceDigest[] = []
      for (let count = r.count(10); count > 0; count--) {
        digests.push({ slice: readSlice(r), first: r.u32(), second: r.u32() })
      }
      return { kind, version, first, last, digests }
    }
    case 'ringDiffer': {
      const version = r.varint()
      const slices: number[] = []
      for (let count = r.count(2); count > 0; count--) slices.push(readSlice(r))
      return { kind, version, slices }
    }
    case 'ringOffer':
      return { kind, id: r.varint(), version: r.varint(), entries: readEntries(r) }
    case 'ringLacks': {
      const id = r.varint()
      const lacks: number[] = []
      for (let count = r.count(1); count > 0; count--) lacks.push(r.varint())
      return { kind, id, lacks }
    }
    case 'ringScan': {
      const [id, [inclusive]] = [r.varint(), readFlags(r)]
      return { kind, id, inclusive, start: readBytes(r), end: readBytes(r), limit: r.varint() }
    }
    case 'ringScanned': {
      const [id, [done]] = [r.varint(), readFlags(r)]
      return { kind, id, done, payload: r.copy(r.remaining) }
    }
  }
}

function flags(first: boolean, second: boolean): number {
  return (first ? 1 : 0) | (second ? 2 : 0)
}

function readFlags(r: ByteReader): [boolean, boolean] {
  const byte = r.u8()
  if (byte > 3) throw new FormatError(`not flags: ${byte}`)
  return [(byte & 1) !== 0, (byte & 2) !== 0]
}

function readStatus(r: ByteReader): RingStatus {
  const byte = r.u8()
  if (byte >= RING_STATUSES.length) throw new FormatError(`not a status: ${byte}`)
  return RING_STATUSES[byte]
}

/** A version of a record. */
function readNumber(r: ByteReader): number {
  const number = r.f64()
  if (!(number >= 0 && number <= Number.MAX_SAFE_INTEGER)) throw new FormatError('not a version')
  return number
}

function readSlice(r: ByteReader): number {
  const slice = r.u16()
  if (slice >= SLICES) throw new FormatError(`not a slice: ${slice}`)
  return slice
}

function writePlace(
  place: { version: number; slice: number; position: number },
  w: ByteWriter
): void {
  w.varint(place.version)
  w.u16(place.slice)
  w.varint(place.position)
}

/** A slice may be the one behind the last: there is no more. */
function readPlace(r: ByteReader): { version: number; slice: number; position: number } {
  const [version, slice, position] = [r.varint(), r.u16(), r.varint()]
  if (slice > SLICES) throw new FormatError(`not a slice: ${slice}`)
  return { version, slice, position }
}

function writeBytes(bytes: Uint8Array, w: ByteWriter): void {
  w.varint(bytes.length)
  w.raw(bytes)
}

function readBytes(r: ByteReader): Uint8Array {
  return r.copy(r.varint())
}

export function writeEntries(entries: readonly OfferEntry[], w: ByteWriter): void {
  w.varint(entries.length)
  for (const { key, version, check } of entries) {
    writeBytes(key, w)
    w.f64(version)
    w.u32(check)
  }
}

export function readEntries(r: ByteReader): OfferEntry[] {
  const entries: OfferEntry[] = []
  for (let count = r.count(13); count > 0; count--) {
    entries.push({ key: readBytes(r), version: readNumber(r), check: r.u32() })
  }
  return entries
}

function writePromise(message: Extract<RingMessage, { kind: 'ringPromise' }>, w: ByteWriter): void {
  const { version, round, ok, highest, accepted } = message
  w.varint(version)
  w.varint(round)
  w.u8(flags(ok, accepted !== undefined))
  w.varint(highest)
  if (accepted === undefined) return
  w.varint(accepted.ballot.round)
  w.latin1Text(accepted.ballot.name)
  w.f64(accepted.ballot.life)
  writeConfiguration(accepted.configuration, w)
}

function readPromise(r: ByteReader): RingMessage {
  const kind = 'ringPromise'
  const [version, round, [ok, has], highest] = [r.varint(), r.varint(), readFlags(r), r.varint()]
  if (!has) return { kind, version, round, ok, highest, accepted: undefined }
  const [at, name, life] = [r.varint(), r.latin1Text(), readLife(r)]
  if (!isNodeName(name)) throw new FormatError('a ballot of nobody')
  const ballot = { round: at, name, life }
  const accepted = { ballot, configuration: readConfiguration(r) }
  return { kind, version, round, ok, highest, accepted }
}

function writeConfiguration(configuration: RingConfiguration, w: ByteWriter): void {
  w.varint(configuration.version)
  w.u8(RING_STAGES.indexOf(configuration.stage))
  w.u8(configuration.copies)
  w.varint(configuration.members.length)
  for (const member of configuration.members) writeMember(member, w)
}

function readConfiguration(r: ByteReader): RingConfiguration {
  const [version, stage, copies] = [r.varint(), r.u8(), r.u8()]
  if (stage >= RING_STAGES.length) throw new FormatError(`not a stage: ${stage}`)
  if (copies === 0) throw new FormatError('no copies')
  const members: RingMemberRecord[] = []
  for (let count = r.count(20); count > 0; count--) members.push(readMember(r))
  if (members.length > MEMBERS_MAX) throw new FormatError('too many members')
  for (let i = 1; i < members.length; i++) {
    if (members[i - 1].name >= members[i].name) throw new FormatError('members out of order')
  }
  return { version, stage: RING_STAGES[stage], copies, members }
}

function writeMember(member: RingMemberRecord, w: ByteWriter): void {
  w.latin1Text(member.name)
  w.f64(member.life)
  w.latin1Text(member.address)
  w.utf8Text(member.url)
  w.utf8Text(member.zone)
  writePositions(member.positions, w)
  writePositions(member.wanted, w)
  w.u8(flags(member.hollow, member.leaving))
}

function readMember(r: ByteReader): RingMemberRecord {
  const name = r.latin1Text()
  if (!isNodeName(name)) throw new FormatError('not a node name')
  const [life, address, url, zone] = [readLife(r), readAddress(r), r.utf8Text(), r.utf8Text()]
  if (url.length > URL_MAX || zone.length > ZONE_MAX) throw new FormatError('a text is too long')
  const [positions, wanted] = [readPositions(r), readPositions(r)]
  const [hollow, leaving] = readFlags(r)
  return { name, life, address, url, zone, positions, wanted, hollow, leaving }
}

function writePositions(positions: readonly number[], w: ByteWriter): void {
  w.varint(positions.length)
  for (const position of positions) w.u32(position >>> 0)
}

function readPositions(r: ByteReader): number[] {
  const count = r.count(4)
  if (count > VNODES_MAX) throw new FormatError('too many positions')
  return Array.from({ length: count }, () => r.u32() | 0)
}
