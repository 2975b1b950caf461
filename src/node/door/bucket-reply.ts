/** The answers to bucket commands (bucket-commands.ts), read again. */
import { ReplyParser } from '../../wire/resp/reply-parser.js'
import { RespError, type ReplyValue } from '../../wire/resp/reply-value.js'

/** What one bucket was found to hold. */
export interface BucketReply {
  /** Its ranks. */
  readonly start: number
  readonly end: number
  /** Where to go on in it, or -1. */
  readonly next: number
  readonly epoch: number
  readonly number: number
  readonly keys: readonly Uint8Array[]
}

export function readReply(bytes: Uint8Array): ReplyValue {
  let value: ReplyValue = null
  const parser = new ReplyParser({ onReply: (parsed) => (value = parsed), payload: 'bytes' })
  parser.push(bytes)
  return value
}

/** The error's text where it is one. */
export function readBucketReply(bytes: Uint8Array): BucketReply | string {
  const value = readReply(bytes)
  if (value instanceof RespError) return value.text
  const items = Array.isArray(value) ? value : []
  const [start, end, next, epoch, number] = items.slice(0, 5).map(Number)
  const found = Array.isArray(items[5]) ? items[5] : []
  const keys = found.filter((key) => key instanceof Uint8Array)
  return { start, end, next, epoch, number, keys }
}

/** Those of several parts, or the first error among them. */
export function readBucketReplies(parts: readonly Uint8Array[]): BucketReply[] | string {
  const replies: BucketReply[] = []
  for (const part of parts) {
    const reply = readBucketReply(part)
    if (typeof reply === 'string') return reply
    replies.push(reply)
  }
  return replies
}
