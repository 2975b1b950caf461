/**
 * Commands that take something and wait where there is nothing to take: tried when they come, and again whenever one of
 * their keys was written to. Who waits, and until when, is in blocking.ts.
 */
import { BLOCKING } from '../../commands/blocking.js'
import { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Copies } from '../copies.js'
import type { Slot } from '../session.js'
import type { Gate } from '../segment.js'
import type { BlockingCall, Door } from './door.js'
import type { Repetitions } from './repetitions.js'
import type { Routes } from './routes.js'

/** What it needs of the door. */
export interface TakesDoor extends Pick<
  Door,
  'cluster' | 'execution' | 'notifications' | 'blocked' | 'reply' | 'wake' | 'unblockElsewhere'
> {
  readonly routes: Routes
  readonly repetitions: Repetitions
  recall(slot: Slot, state: BucketState): boolean
  fill(slot: Slot, reply: Uint8Array, gates: readonly Gate[]): void
}

export class Takes {
  readonly #door: TakesDoor
  readonly #copies: Copies

  constructor(door: TakesDoor, copies: Copies) {
    this.#door = door
    this.#copies = copies
  }

  /** Has a command wait where its keys' bucket is until there is something to take. */
  begin(slot: Slot, call: BlockingCall): void {
    const { hash, blocking, args } = call
    const { blocked, routes } = this.#door
    slot.hash = hash
    slot.write = true
    blocked.begin(slot, blocking, args)
    const state = routes.find(slot)
    const unblocked = slot.blocking?.unblocked
    if (state === undefined) {
      // It goes only to find out whether it has taken something before.
      if (unblocked !== undefined && slot.wait === undefined) {
        this.#door.unblockElsewhere(slot.session, unblocked)
      }
      return
    }
    if (this.#door.recall(slot, state)) return
    if (this.#take(slot, call, false)) return
    if (unblocked !== undefined) {
      blocked.giveUp(slot)
      return
    }
    const keys = blocking.sources(args).map((place) => args.text(place))
    blocked.wait(slot, keys, () => this.#take(slot, call, true))
  }

  /** Answers a command that took nothing. */
  answerNothing(slot: Slot): void {
    const args = this.#door.execution.parse(slot.request)
    const blocking = BLOCKING.find(({ name }) => name === args.word(0))
    this.#door.reply(slot, (reply) =>
      blocking === undefined ? reply.nil() : blocking.writeNothing(reply)
    )
  }

  /** Executes a command that may wait, if there is something to take; false if there is not. */
  #take(slot: Slot, { hash, blocking, args }: BlockingCall, waited: boolean): boolean {
    const { cluster, execution, notifications, repetitions, blocked } = this.#door
    const state = cluster.buckets[hash & cluster.table.mask]
    if (state?.role !== 'primary' || state.holding || !cluster.mayServe()) return false
    const reply = new ReplyWriter({ protocol: slot.session.protocol, initialBytes: 256 })
    const work = execution.workOn(state, args, reply)
    if (!blocking.attempt(work, waited)) return false
    notifications.ended()
    const bytes = reply.bytes.slice(0, reply.length)
    const gates: Gate[] = []
    const noted = repetitions.isNoted(slot, work.changed)
    if (noted) repetitions.note(slot, state, bytes, cluster.now)
    if (work.changed || noted ? slot.session.acksAll : !state.isSettled()) {
      this.#copies.gateWrite(state, gates)
    }
    this.#door.fill(slot, bytes, gates)
    this.#door.wake(slot.session)
    // What it put elsewhere may be waited for; those who wait here are being served.
    if (!waited && blocked.list.isTouched) blocked.serve()
    return true
  }
}
