/**
 * What a node of a ring writes down so as not to forget it, as bytes: a list of entries, each a kind and its fields. Later
 * entries win over earlier ones.
 *
 *   memory      life                          the process that began this list
 *   record      item                          held from here on, unless a newer one is
 *   removed     key                           without a trace: others hold it
 *   ring        cluster configuration         decided
 *   promise     version ballot flags (ballot configuration)?   of an acceptor, on the version after the decided one
 *   hint        name item                     kept for a node that is away
 *   hintsGone   name                          nothing is kept for it any more
 */
import type { Ballot } from '../core/agreement/ballot.js'
import { ByteReader, FormatError, type ByteWriter } from '../core/bytes.js'
import type { RingConfiguration } from '../core/placement/ring-configuration.js'
import { field, flags, readPieces, writePieces, type Part, type Piece } from './peer/layout.js'
import { accepted, ballot, configuration, life, rest, u32, varint } from './peer/ring-parts.js'

export type MemoryEntry =
  | { readonly kind: 'memory'; readonly life: number }
  | { readonly kind: 'record'; readonly payload: Uint8Array }
  | { readonly kind: 'removed'; readonly key: Uint8Array }
  | {
      readonly kind: 'ring'
      readonly cluster: number
      readonly configuration: RingConfiguration
    }
  | {
      readonly kind: 'promise'
      readonly version: number
      readonly promised: Ballot
      readonly accepted:
        { readonly ballot: Ballot; readonly configuration: RingConfiguration } | undefined
    }
  | { readonly kind: 'hint'; readonly name: string; readonly payload: Uint8Array }
  | { readonly kind: 'hintsGone'; readonly name: string }

type Kind = MemoryEntry['kind']
type EntryOf<K extends Kind> = Extract<MemoryEntry, { kind: K }>

/** The place in the list is the number on the disk. */
const KINDS = ['memory', 'record', 'removed', 'ring', 'promise', 'hint', 'hintsGone'] as const

const text: Part<string> = { write: (value, w) => w.latin1Text(value), read: (r) => r.latin1Text() }

const ACCEPTED: Piece<Pick<EntryOf<'promise'>, 'accepted'>> = {
  write: (entry, w) => {
    flags.write([entry.accepted !== undefined, false], w)
    if (entry.accepted !== undefined) accepted.write(entry.accepted, w)
  },
  read: (r, into) => {
    into.accepted = flags.read(r)[0] ? accepted.read(r) : undefined
  }
}

const LAYOUTS: { readonly [K in Kind]: readonly Piece<EntryOf<K>>[] } = {
  memory: [field('life', life)],
  record: [field('payload', rest)],
  removed: [field('key', rest)],
  ring: [field('cluster', u32), field('configuration', configuration)],
  promise: [field('version', varint), field('promised', ballot), ACCEPTED],
  hint: [field('name', text), field('payload', rest)],
  hintsGone: [field('name', text)]
}

export function encodeMemory(entry: MemoryEntry, w: ByteWriter): void {
  w.u8(KINDS.indexOf(entry.kind))
  writePieces(LAYOUTS[entry.kind] as readonly Piece<MemoryEntry>[], entry, w)
}

export function decodeMemory(bytes: Uint8Array): MemoryEntry {
  const r = ByteReader.over(bytes)
  const kind = KINDS.at(r.u8())
  if (kind === undefined) throw new FormatError('not an entry of a memory')
  return readPieces(LAYOUTS[kind] as readonly Piece<MemoryEntry>[], { kind }, r)
}
