/** The parts that messages of a ring are made of, each with how it is written and how it is read. */
import type { Ballot } from '../../core/agreement/ballot.js'
import { FormatError, type ByteReader } from '../../core/bytes.js'
import { isNodeName } from '../../core/ids.js'
import {
  RING_STAGES,
  type RingConfiguration,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import { VNODES_MAX } from '../../core/placement/ring.js'
import { readAddress, readLife } from './envelope.js'
import { flags, type Part } from './layout.js'
import {
  RING_STATUSES,
  SLICES,
  type OfferEntry,
  type RingStatus,
  type SliceDigest
} from './ring.js'

const URL_MAX = 2048
const ZONE_MAX = 63
const MEMBERS_MAX = 1024

export const varint: Part<number> = {
  write: (value, w) => w.varint(value),
  read: (r) => r.varint()
}

export const u32: Part<number> = { write: (value, w) => w.u32(value), read: (r) => r.u32() }

export const life: Part<number> = { write: (value, w) => w.f64(value), read: readLife }

/** To the end of the message. */
export const rest: Part<Uint8Array> = {
  write: (value, w) => w.raw(value),
  read: (r) => r.copy(r.remaining)
}

export const bytes: Part<Uint8Array> = {
  write: (value, w) => {
    w.varint(value.length)
    w.raw(value)
  },
  read: (r) => r.copy(r.varint())
}

export const status: Part<RingStatus> = {
  write: (value, w) => w.u8(RING_STATUSES.indexOf(value)),
  read: (r) => {
    const byte = r.u8()
    if (byte >= RING_STATUSES.length) throw new FormatError(`not a status: ${byte}`)
    return RING_STATUSES[byte]
  }
}

/** A version of a record. */
export const number: Part<number> = {
  write: (value, w) => w.f64(value),
  read: (r) => {
    const value = r.f64()
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw new FormatError('not a version')
    return value
  }
}

export const slice: Part<number> = { write: (value, w) => w.u16(value), read: (r) => readSlice(r) }

/** The one behind the last: there is no more. */
export const sliceOrEnd: Part<number> = {
  write: (value, w) => w.u16(value),
  read: (r) => readSlice(r, SLICES)
}

function readSlice(r: ByteReader, max = SLICES - 1): number {
  const value = r.u16()
  if (value > max) throw new FormatError(`not a slice: ${value}`)
  return value
}

/** A list whose elements take at least so many bytes each. */
export function listOf<T>(part: Part<T>, bytesMin: number): Part<readonly T[]> {
  return {
    write: (list, w) => {
      w.varint(list.length)
      for (const value of list) part.write(value, w)
    },
    read: (r) => {
      const list: T[] = []
      for (let count = r.count(bytesMin); count > 0; count--) list.push(part.read(r))
      return list
    }
  }
}

export const digest: Part<SliceDigest> = {
  write: ({ slice: at, first, second }, w) => {
    w.u16(at)
    w.u32(first)
    w.u32(second)
  },
  read: (r) => ({ slice: readSlice(r), first: r.u32(), second: r.u32() })
}

export const entries: Part<readonly OfferEntry[]> = listOf(
  {
    write: ({ key, version, check }, w) => {
      bytes.write(key, w)
      w.f64(version)
      w.u32(check)
    },
    read: (r) => ({ key: bytes.read(r), version: number.read(r), check: r.u32() })
  },
  13
)

const positions: Part<readonly number[]> = {
  write: (value, w) => {
    w.varint(value.length)
    for (const position of value) w.u32(position >>> 0)
  },
  read: (r) => {
    const count = r.count(4)
    if (count > VNODES_MAX) throw new FormatError('too many positions')
    return Array.from({ length: count }, () => r.u32() | 0)
  }
}

export const member: Part<RingMemberRecord> = {
  write: (value, w) => {
    w.latin1Text(value.name)
    w.f64(value.life)
    w.latin1Text(value.address)
    w.utf8Text(value.url)
    w.utf8Text(value.zone)
    positions.write(value.positions, w)
    positions.write(value.wanted, w)
    flags.write([value.hollow, value.leaving], w)
  },
  read: (r) => {
    const name = r.latin1Text()
    if (!isNodeName(name)) throw new FormatError('not a node name')
    const [began, address, url, zone] = [readLife(r), readAddress(r), r.utf8Text(), r.utf8Text()]
    if (url.length > URL_MAX || zone.length > ZONE_MAX) throw new FormatError('a text is too long')
    const [now, wanted] = [positions.read(r), positions.read(r)]
    const [hollow, leaving] = flags.read(r)
    return { name, life: began, address, url, zone, positions: now, wanted, hollow, leaving }
  }
}

const members = listOf(member, 20)

export const configuration: Part<RingConfiguration> = {
  write: (value, w) => {
    w.varint(value.version)
    w.u8(RING_STAGES.indexOf(value.stage))
    w.u8(value.copies)
    members.write(value.members, w)
  },
  read: (r) => {
    const [version, stage, copies] = [r.varint(), r.u8(), r.u8()]
    if (stage >= RING_STAGES.length) throw new FormatError(`not a stage: ${stage}`)
    if (copies === 0) throw new FormatError('no copies')
    const list = members.read(r)
    if (list.length > MEMBERS_MAX) throw new FormatError('too many members')
    for (let i = 1; i < list.length; i++) {
      if (list[i - 1].name >= list[i].name) throw new FormatError('members out of order')
    }
    return { version, stage: RING_STAGES[stage], copies, members: list }
  }
}

export const ballot: Part<Ballot> = {
  write: (value, w) => {
    w.varint(value.round)
    w.latin1Text(value.name)
    w.f64(value.life)
  },
  read: (r) => {
    const [round, name, began] = [r.varint(), r.latin1Text(), readLife(r)]
    if (!isNodeName(name)) throw new FormatError('a ballot of nobody')
    return { round, name, life: began }
  }
}

/** What an acceptor has accepted. */
export const accepted: Part<{
  readonly ballot: Ballot
  readonly configuration: RingConfiguration
}> = {
  write: (value, w) => {
    ballot.write(value.ballot, w)
    configuration.write(value.configuration, w)
  },
  read: (r) => ({ ballot: ballot.read(r), configuration: configuration.read(r) })
}
