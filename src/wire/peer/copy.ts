/** The traffic of every turn: writes for backups, what they have of them, and commands on their way to their primary. */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import type { Family } from './family.js'
import { readFlag, readMoment, readRest, viewRest } from './fields.js'

export type CopyMessage =
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
  /** Somebody may have missed some of those before and has not heard it yet. */
  readonly missed: boolean
}

export const COPY: Family<CopyMessage> = {
  kinds: ['batch', 'promoted', 'behind', 'sync', 'forward', 'answer'],
  encode: encodeCopy,
  decode: decodeCopy
}

function encodeCopy(message: CopyMessage, w: ByteWriter): void {
  switch (message.kind) {
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
        w.u8(mark.missed ? 1 : 0)
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
  }
}

function decodeCopy(kind: CopyMessage['kind'], r: ByteReader): CopyMessage {
  switch (kind) {
    case 'batch':
      return { kind, payload: viewRest(r) }
    case 'promoted':
      return { kind, bucket: r.u16(), epoch: r.varint(), seq: r.varint() }
    case 'behind':
      return { kind, bucket: r.u16(), epoch: r.varint() }
    case 'sync': {
      const buckets: SyncMark[] = []
      for (let count = r.count(23); count > 0; count--) {
        const [bucket, epoch, seq, pending] = [r.u16(), r.varint(), r.varint(), r.varint()]
        const [seenVersion, parted, untold] = [readMoment(r), readMoment(r), r.varint()]
        const missed = readFlag(r)
        buckets.push({ bucket, epoch, seq, pending, seenVersion, parted, untold, missed })
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
  }
}
