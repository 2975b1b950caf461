/**
 * Commands about several keys of one bucket. They are executed where the bucket's primary is, in one go, and change
 * nothing themselves: every change is a command about one key, run by `Work.run`, and that is what goes to
 * the backups. So a composite may read what it likes and need not be repeatable, a key that has already
 * been shipped by a move is followed by its own changes only, and watchers hear of each key.
 */
import type { Random } from '../core/random.js'
import type { Bucket } from '../store/bucket.js'
import type { Protocol, ReplyWriter } from '../wire/resp/reply-writer.js'
import type { Arguments } from './arguments.js'

/** What a composite works with. */
export interface Work {
  readonly args: Arguments
  readonly reply: ReplyWriter
  readonly bucket: Bucket
  readonly now: number
  readonly random: Random
  /** The ref of a live item, 0 if there is none; good until the next `run`. */
  find(key: Uint8Array): number
  /** Executes a command about one key of the bucket; gives its reply as RESP2. */
  run(...args: (string | Uint8Array)[]): Uint8Array
  /** The same for a command that is encoded already. */
  runRequest(request: Uint8Array): Uint8Array
  /** Executes a command about one key or several of the bucket; gives its reply in that protocol. */
  runAny(request: Uint8Array, protocol: Protocol): Uint8Array
}

export interface Composite {
  readonly name: string
  /** Arguments including the name; -n means at least n. */
  readonly arity: number
  readonly write: boolean
  /** The places of its keys, or the error where the arguments make no sense. */
  keys(args: Arguments): number[] | string
  execute(work: Work): void
}

/** Keys from the first place on, so many apart. */
export function everyKey(args: Arguments, first = 1, step = 1): number[] {
  const places: number[] = []
  for (let place = first; place < args.count; place += step) places.push(place)
  return places
}
