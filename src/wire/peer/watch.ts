/** What watchers are told, and what whoever tells them has to know. */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import type { NodeName } from '../../core/ids.js'
import { readLife } from './envelope.js'
import type { Family } from './family.js'
import { readFlag, readMask, readName, readText } from './fields.js'

export type WatchMessage =
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

const CHANGES: readonly WatchEvent['change'][] = ['set', 'deleted', 'expired', 'evicted']

export const WATCH: Family<WatchMessage> = {
  kinds: ['watches', 'event', 'gap', 'untold'],
  encode: encodeWatch,
  decode: decodeWatch
}

function encodeWatch(message: WatchMessage, w: ByteWriter): void {
  switch (message.kind) {
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
  }
}

function decodeWatch(kind: WatchMessage['kind'], r: ByteReader): WatchMessage {
  switch (kind) {
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
  }
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
