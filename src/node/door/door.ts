/** What commands that are not about one key get to work with: the door they came in by. */
import type { Arguments } from '../../commands/arguments.js'
import type { Blocking } from '../../commands/blocking.js'
import type { Unblocking } from '../../wire/peer/door.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Session, Slot } from '../session.js'
import type { TableFeed } from '../table-feed.js'
import type { Watches } from '../watches.js'
import type { BlockedCommands } from './blocking.js'
import type { Execution } from './execution.js'
import type { Maintenance } from './maintenance.js'
import type { Notifications } from './notifications.js'
import type { Paused } from './pause.js'
import type { PubSub } from './pubsub.js'
import type { Observer } from './observer.js'
import type { RankOrder } from './rank.js'
import type { Replicas } from './replicas.js'
import type { DoorSettings } from './settings.js'
import type { Tracking } from './tracking.js'
import type { SharedSettings } from './shared-settings.js'
import type { DoorStatistics } from './statistics.js'

/** Makes one reply of the replies to the parts; they are in the order of the requests. */
export type Combine = (parts: readonly Uint8Array[], reply: ReplyWriter) => void
export type Next = (parts: readonly Uint8Array[]) => void
/** Acts on a bucket; true if it wrote something. */
export type Act = (state: BucketState, reply: ReplyWriter) => boolean

/** A command for one key, and its hash. */
export interface Part {
  readonly hash: number
  readonly request: Uint8Array
}

/** Answers another node's question about this one. */
export type Answer = (door: Door, args: Arguments, reply: ReplyWriter) => void

/** A command that may wait, with all its keys in one place. */
export interface BlockingCall {
  readonly hash: number
  readonly blocking: Blocking
  readonly args: Arguments
}

export interface Door {
  readonly cluster: Cluster
  readonly pubsub: PubSub
  readonly notifications: Notifications
  readonly shared: SharedSettings
  readonly watches: Watches
  readonly feed: TableFeed
  readonly execution: Execution
  readonly ranks: RankOrder
  readonly settings: DoorSettings
  readonly statistics: DoorStatistics
  readonly observer: Observer
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
  /** Reads that can all be executed here and now are, without a slot of their own each; false if one of them cannot. */
  readHere(slot: Slot, parts: readonly Part[], combine: Combine): boolean
  /** Asks all other nodes about themselves; those that cannot be heard do not count. */
  poll(slot: Slot, request: Uint8Array, next: Next): void
  /** This node's own answer to such a question. */
  answer(request: Uint8Array): Uint8Array
  /** Sends a client something that is no reply. */
  push(session: Session, write: (reply: ReplyWriter) => void): void
  /** The redirection for a client that wants to know where keys are, if they are not here. */
  moved(session: Session, hash: number): string | undefined
  /** Has a command wait where its keys' bucket is until there is something to take. */
  block(slot: Slot, command: BlockingCall): void
  /** The same for keys that live apart. */
  keepVigil(slot: Slot, blocking: Blocking, args: Arguments): void
  readonly blocked: BlockedCommands
  readonly tracking: Tracking
  readonly maintenance: Maintenance
  readonly replicas: Replicas
  /** A client that is connected here. */
  session(id: number): Session | undefined
  /** The name of a client that no other in the cluster has. */
  clientOf(session: Session): string
  /** What has to be known everywhere before this node hears of all keys it wants to hear of. */
  readonly ownPatternsVersion: number
  /** Answers a command that took nothing. */
  answerNothing(slot: Slot): void
  /** Whoever keeps a command of the session waiting is told to stop. */
  unblockElsewhere(session: Session, how: Unblocking): void
  /** Something was done for a session in another's turn. */
  wake(session: Session): void
  /** Calls back once everything before this command has been answered. */
  whenFirst(slot: Slot, act: () => void): void
  /** Ends the session after what it has been sent. */
  end(session: Session): void
  /** Ends another session here and now. */
  hangUp(session: Session): void
  /** Nobody's commands, or nobody's writes, are begun for so long. */
  pause(ms: number, what: Paused): void
  /** Items whose time was over here. */
  readonly expired: number
  /** How many clients wait because of the pause. */
  readonly postponed: number
}

export interface DoorCommand {
  /** Lower case. */
  readonly name: string
  /** Arguments including the name; -n means at least n. */
  readonly arity: number
  /** Changes how the session's other commands are executed: waits until those before it are done. */
  readonly alone?: boolean
  /** The same, but those of this kind need not wait for each other. */
  readonly loose?: boolean
  execute(door: Door, slot: Slot, args: Arguments): void
  /** Instead of the usual error. */
  wrongArity?(door: Door, slot: Slot): void
}

/** Whether a command with this arity may have so many arguments. */
export function fits(arity: number, count: number): boolean {
  return arity >= 0 ? count === arity : count >= -arity
}
