/**
 * Writes that are sent a second time, because whether they were executed is not known to whoever passed them on: those
 * that were are answered as they were then, and not executed again (once-notes.ts has the notes by which that is known).
 */
import type { Call } from '../../commands/call.js'
import { HybridClock } from '../../store/clock.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Copies } from '../copies.js'
import { Once } from '../once.js'
import type { Remote, Slot } from '../session.js'
import type { Lanes } from './lanes.js'

export class Repetitions {
  readonly once: Once
  readonly #cluster: Cluster
  readonly #lanes: Lanes

  constructor(cluster: Cluster, copies: Copies, lanes: Lanes) {
    this.once = new Once(cluster, copies)
    this.#cluster = cluster
    this.#lanes = lanes
  }

  /** The reply of a write that was executed before, `unknown` if that cannot be known, undefined if it was not. */
  find(slot: Slot, state: BucketState): Uint8Array | 'unknown' | undefined {
    if (!slot.write || (slot.session.remote === undefined && !slot.sentOn)) return undefined
    const known = this.once.find(state, this.#lanes.clientOf(slot.session), slot.turn)
    if (known !== undefined) return known
    return !slot.sentOn || this.once.isSure(state) ? undefined : 'unknown'
  }

  /**
   * Whether the write that was just executed is noted. One that changed nothing and comes for the first time is not:
   * whoever executes it again does it once. Sent again, it is: what was sent first may still be on its way, and would
   * change something after its client was told that it did not.
   */
  isNoted(slot: Slot, changed: boolean): boolean {
    return changed ? slot.session.remote !== undefined || slot.sentOn : slot.write && slot.sentOn
  }

  /** It has just been executed, at this time and with this reply. */
  note(slot: Slot, state: BucketState, reply: Uint8Array, ms: number): void {
    const { session, turn, hash } = slot
    const client = this.#lanes.clientOf(session)
    this.once.note(state, { hash, client, turn, floor: session.remote?.floor ?? 0, ms, reply })
  }

  /** Whether the next command of another node's client may have been executed already. */
  mayBe(state: BucketState, { client, turns, untils }: Remote): boolean {
    if (untils.length > 0 && untils[0] > 0 && this.#cluster.now > untils[0]) return true
    if (turns.length === 0 || turns[0] === 0) return false
    if (turns[0] % 2 === 1) return true
    return state.notes !== undefined && this.once.find(state, client, turns[0] / 2) !== undefined
  }

  /** Notes the next command of another node's client, which the call has just executed, with the end of its reply. */
  noteForwarded(state: BucketState, call: Call, remote: Remote, from: number): void {
    const turn = Math.floor((remote.turns.at(0) ?? 0) / 2)
    if (turn === 0) return
    const { client, floor } = remote
    const reply = call.reply.bytes.slice(from, call.reply.length)
    const ms = HybridClock.toMs(call.version)
    this.once.note(state, { hash: call.key.placementHash, client, turn, floor, ms, reply })
  }
}
