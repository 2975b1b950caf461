/** What nodes tell each other of themselves and of the table: who lives, who joins, which rows are known, how loaded one is. */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import type { NodeName } from '../../core/ids.js'
import type { MemberRecord, MemberState } from '../../core/membership/members.js'
import { MAX_COPIES, type Row, type TableOutline } from '../../core/table.js'
import { readAddress, readLife } from './envelope.js'
import type { Family } from './family.js'
import { readFlag, readMask, readMoment, readName, readText } from './fields.js'

export type KnowledgeMessage =
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
  /** Our tables differ: send me what you know better. */
  | ({ readonly kind: 'tableAsk' } & TableOutline)
  | { readonly kind: 'levelAsk' }
  | {
      readonly kind: 'level'
      readonly primaries: number
      readonly backups: number
      readonly transferring: boolean
    }
  /** What you said cannot be true; it was not taken. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** In place of what a node that has left need not be told any more. */
  | { readonly kind: 'nothing' }

export interface BucketRow {
  readonly bucket: number
  readonly row: Row
}

const STATES: readonly MemberState[] = ['alive', 'leaving', 'left']

export const KNOWLEDGE: Family<KnowledgeMessage> = {
  kinds: [
    'beat',
    'members',
    'join',
    'welcome',
    'rows',
    'tableAsk',
    'levelAsk',
    'level',
    'refused',
    'nothing'
  ],
  encode: encodeKnowledge,
  decode: decodeKnowledge
}

function encodeKnowledge(message: KnowledgeMessage, w: ByteWriter): void {
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
      w.u16(message.mask)
      w.u32(message.digest)
      for (const epoch of message.epochs) w.varint(epoch)
      return
    case 'levelAsk':
    case 'nothing':
      return
    case 'level':
      w.varint(message.primaries)
      w.varint(message.backups)
      w.u8(message.transferring ? 1 : 0)
      return
    case 'refused':
      w.utf8Text(message.reason)
      return
  }
}

function decodeKnowledge(kind: KnowledgeMessage['kind'], r: ByteReader): KnowledgeMessage {
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
    case 'tableAsk': {
      const [mask, digest] = [readMask(r), r.u32()]
      const epochs: number[] = []
      for (let bucket = 0; bucket <= mask; bucket++) epochs.push(r.varint())
      return { kind, mask, digest, epochs }
    }
    case 'levelAsk':
    case 'nothing':
      return { kind }
    case 'level':
      return { kind, primaries: r.varint(), backups: r.varint(), transferring: readFlag(r) }
    case 'refused':
      return { kind, reason: readText(r) }
  }
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
