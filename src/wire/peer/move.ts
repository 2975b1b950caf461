/** What the source and the target of a move say to each other, stage by stage; and the copies of two sides that meet again. */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import type { NodeName } from '../../core/ids.js'
import type { Family } from './family.js'
import { readFlag, readMask, readMoment, readName, readText, viewRest } from './fields.js'

export type MoveMessage =
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

export type CopyRole = 'primary' | 'backup'

export const MOVE: Family<MoveMessage> = {
  kinds: [
    'offer',
    'accept',
    'busy',
    'items',
    'caughtUp',
    'cancel',
    'ship',
    'shipEnd',
    'merge',
    'merged'
  ],
  encode: encodeMove,
  decode: decodeMove
}

function encodeMove(message: MoveMessage, w: ByteWriter): void {
  switch (message.kind) {
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
  }
}

function decodeMove(kind: MoveMessage['kind'], r: ByteReader): MoveMessage {
  switch (kind) {
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
      return { kind, move: r.varint(), payload: viewRest(r) }
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
    case 'merge': {
      const [bucket, mask, last] = [r.u16(), readMask(r), readFlag(r)]
      return { kind, bucket, mask, last, payload: viewRest(r) }
    }
    case 'merged':
      return { kind, bucket: r.u16(), mask: readMask(r), done: readFlag(r) }
  }
}
