/**
 * One command on its way: what was asked, whom to tell, and how far it has come. It is the only object a command costs
 * beside its arguments and its promise; there is no closure, so the promise's two functions are taken through `capture`.
 */
import type { ReplyValue } from '../wire/resp/reply-value.js'
import type { Argument } from './argument.js'
import type { CommandKind } from './command-kind.js'

/** Makes the reply into what the caller wants; throws if it is not that. */
export type Decode<T> = (reply: ReplyValue) => T

export interface CallOptions {
  readonly args: readonly Argument[]
  readonly kind: CommandKind
  readonly decode: Decode<unknown>
  readonly deadlineMs: number
  /** Writes that leave the same behind when repeated are sent again as well. */
  readonly repeats: boolean
}

export class Call {
  readonly args: readonly Argument[]
  readonly kind: CommandKind
  readonly decode: Decode<unknown>
  readonly deadlineMs: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  /** May be sent again although a node may have seen it. */
  readonly mayRepeat: boolean
  /** Of the key at the mask of the table when it was last sent; -1 without a key. */
  bucket = -1
  redirects = 0
  /** Not to be tried again before. */
  notBeforeMs = 0
  /** It is for this connection only. */
  pinned = false
  /** Its caller has been told, or another call has taken its place: a reply that comes now is nobody's. */
  settled = false

  constructor(
    options: CallOptions,
    resolve: (value: unknown) => void,
    reject: (error: Error) => void
  ) {
    this.args = options.args
    this.kind = options.kind
    this.decode = options.decode
    this.deadlineMs = options.deadlineMs
    this.mayRepeat =
      options.kind.retry === 'always' || (options.kind.retry === 'repeat' && options.repeats)
    this.resolve = resolve
    this.reject = reject
  }

  /** Another call for the same caller; this one only keeps its place in the order of replies. */
  again(): Call {
    const { args, kind, decode, deadlineMs, mayRepeat, redirects } = this
    const options = { args, kind, decode, deadlineMs, repeats: mayRepeat }
    const call = new Call(options, this.resolve, this.reject)
    call.redirects = redirects
    this.settled = true
    return call
  }
}

let resolveCaptured: (value: unknown) => void = () => undefined
let rejectCaptured: (error: Error) => void = () => undefined

function capture(resolve: (value: unknown) => void, reject: (error: Error) => void): void {
  resolveCaptured = resolve
  rejectCaptured = reject
}

/** A promise, and the call that will settle it. */
export function createCall<T>(options: CallOptions & { readonly decode: Decode<T> }): {
  readonly call: Call
  readonly promise: Promise<T>
} {
  const promise = new Promise(capture) as Promise<T>
  return { call: new Call(options, resolveCaptured, rejectCaptured), promise }
}
