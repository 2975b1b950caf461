/** What commands that are not about one key get to work with: the door they came in by. */
import type { Arguments } from '../../commands/arguments.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Session, Slot } from '../session.js'
import type { TableFeed } from '../table-feed.js'
import type { Watches } from '../watches.js'
import type { Execution } from './execution.js'
import type { RankOrder } from './rank.js'
import type { DoorSettings } from './settings.js'
import type { DoorStatistics } from './statistics.js'

/** Makes one reply of the replies to the parts; they are in the order of the requests. */
export type Combine = (parts: readonly Uint8Array[], reply: ReplyWriter) => void
export type Next = (parts: readonly Uint8Array[]) => void
/** Acts on a bucket; true if it wrote something. */
export type Act = (state: BucketState, reply: ReplyWriter) => boolean

export interface Door {
  readonly cluster: Cluster
  readonly watches: Watches
  readonly feed: TableFeed
  readonly execution: Execution
  readonly ranks: RankOrder
  readonly settings: DoorSettings
  readonly statistics: DoorStatistics
  /** The clients that are connected here. */
  sessions(): Iterable<Session>
  /** Answers a command. */
  reply(slot: Slot, write: (reply: ReplyWriter) => void): void
  /** Answers it with an error. */
  refuse(slot: Slot, text: string): void
  /** Has it executed where the primary of the hash's bucket is, in one go; `act` is called if that is here. */
  serve(slot: Slot, place: { hash: number; write: boolean }, act: Act): void
  /** Has the parts executed, each where its key is, and answers when all have been. */
  scatter(slot: Slot, requests: readonly Uint8Array[], combine: Combine): void
  /** The same, but `next` goes on itself, with more parts or a reply. */
  ask(slot: Slot, requests: readonly Uint8Array[], next: Next): void
  /** The redirection for a client that wants to know where keys are, if they are not here. */
  moved(session: Session, hash: number): string | undefined
  /** Calls back once everything before this command has been answered. */
  whenFirst(slot: Slot, act: () => void): void
  /** Ends the session after what it has been sent. */
  end(session: Session): void
  /** Ends another session here and now. */
  hangUp(session: Session): void
  /** Nobody's commands, or nobody's writes, are begun for so long. */
  pause(ms: number, what: 'all' | 'write'): void
}

export interface DoorCommand {
  /** Lower case. */
  readonly name: string
  /** Arguments including the name; -n means at least n. */
  readonly arity: number
  /** Changes how the session's other commands are executed: waits until those before it are done. */
  readonly alone?: boolean
  execute(door: Door, slot: Slot, args: Arguments): void
  /** Instead of the usual error. */
  wrongArity?(door: Door, slot: Slot): void
}
