/**
 * What the doors of two nodes say to each other, as bytes.
 *
 *   ask      id request           a command about the other node itself, as RESP
 *   told     id reply             its reply, as RESP
 *   setting  version name value   a setting that all nodes share; the highest version counts
 *   keyEvent key names            what happened to a key without being a write, for those who listen there
 *   notes    bucket mask notes    forwarded writes that were executed, for the target of a move (once-notes.ts)
 *   unblock  lane how             the command that waits at the end of that lane must not wait any longer
 *   await    id keys              tell me when one of these keys has something; none: no more
 *   ready    id key               it has
 *   invalidate key by             a key was written to, by this client; for those who cached it there
 */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import { isMask } from '../../core/mask.js'
import type { Family } from './family.js'
import { readMoment } from './fields.js'

/** Why a command waits no longer: its time is over, somebody said so, or its client is gone. */
export const UNBLOCKINGS = ['timeout', 'error', 'gone'] as const
export type Unblocking = (typeof UNBLOCKINGS)[number]

export type DoorMessage =
  | { readonly kind: 'ask'; readonly id: number; readonly payload: Uint8Array }
  | { readonly kind: 'told'; readonly id: number; readonly payload: Uint8Array }
  | {
      readonly kind: 'setting'
      readonly version: number
      readonly name: string
      readonly value: string
    }
  | {
      readonly kind: 'notes'
      readonly bucket: number
      readonly mask: number
      readonly payload: Uint8Array
    }
  | { readonly kind: 'unblock'; readonly lane: number; readonly how: Unblocking }
  | { readonly kind: 'await'; readonly id: number; readonly keys: readonly string[] }
  | { readonly kind: 'ready'; readonly id: number; readonly key: string }
  | { readonly kind: 'invalidate'; readonly key: string; readonly by: string }
  | { readonly kind: 'keyEvent'; readonly key: string; readonly names: string }

export const DOOR: Family<DoorMessage> = {
  kinds: ['ask', 'told', 'setting', 'keyEvent', 'notes', 'unblock', 'await', 'ready', 'invalidate'],
  encode: encodeDoor,
  decode: decodeDoor
}

function encodeDoor(message: DoorMessage, w: ByteWriter): void {
  switch (message.kind) {
    case 'ask':
      w.varint(message.id)
      w.raw(message.payload)
      return
    case 'told':
      w.varint(message.id)
      w.raw(message.payload)
      return
    case 'setting':
      w.f64(message.version)
      w.latin1Text(message.name)
      w.latin1Text(message.value)
      return
    case 'keyEvent':
      w.latin1Text(message.key)
      w.latin1Text(message.names)
      return
    case 'notes':
      w.u16(message.bucket)
      w.u16(message.mask)
      w.raw(message.payload)
      return
    case 'unblock':
      w.varint(message.lane)
      w.u8(UNBLOCKINGS.indexOf(message.how))
      return
    case 'await':
      w.varint(message.id)
      w.varint(message.keys.length)
      for (const key of message.keys) w.latin1Text(key)
      return
    case 'ready':
      w.varint(message.id)
      w.latin1Text(message.key)
      return
    case 'invalidate':
      w.latin1Text(message.key)
      w.latin1Text(message.by)
  }
}

function decodeDoor(kind: DoorMessage['kind'], r: ByteReader): DoorMessage {
  switch (kind) {
    case 'ask':
      return { kind, id: r.varint(), payload: r.copy(r.remaining) }
    case 'told':
      return { kind, id: r.varint(), payload: r.copy(r.remaining) }
    case 'setting':
      return { kind, version: readMoment(r), name: r.latin1Text(), value: r.latin1Text() }
    case 'keyEvent':
      return { kind, key: r.latin1Text(), names: r.latin1Text() }
    case 'notes': {
      const [bucket, mask] = [r.u16(), r.u16()]
      if (!isMask(mask) || bucket > mask) throw new FormatError(`bucket ${bucket} of mask ${mask}`)
      return { kind, bucket, mask, payload: r.copy(r.remaining) }
    }
    case 'unblock': {
      const [lane, how] = [r.varint(), UNBLOCKINGS.at(r.u8())]
      if (how === undefined) throw new FormatError('not a reason to wait no longer')
      return { kind, lane, how }
    }
    case 'await': {
      const id = r.varint()
      const keys: string[] = []
      for (let count = r.count(1); count > 0; count--) keys.push(r.latin1Text())
      return { kind, id, keys }
    }
    case 'ready':
      return { kind, id: r.varint(), key: r.latin1Text() }
    case 'invalidate':
      return { kind, key: r.latin1Text(), by: r.latin1Text() }
  }
}
