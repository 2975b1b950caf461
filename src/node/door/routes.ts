/**
 * Where a command is to be executed: on a bucket that is here, at another node, or nowhere for now. Clients that follow
 * the topology are told where instead of being served from elsewhere.
 */
import { NOBODY } from '../../core/ids.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Copies } from '../copies.js'
import type { Session, Slot } from '../session.js'
import { AGAIN } from './fixed-replies.js'
import type { Lanes } from './lanes.js'
import type { Maintenance } from './maintenance.js'
import type { Parking } from './parking.js'
import type { Pause } from './pause.js'
import type { RankOrder } from './rank.js'
import type { DoorStatistics } from './statistics.js'

/** A request is passed on so often before it waits where it is. */
const HOPS_MAX = 6

/** What it needs of the door. */
export interface RoutesDoor {
  readonly cluster: Cluster
  readonly ranks: RankOrder
  readonly lanes: Lanes
  readonly parking: Parking
  readonly pauses: Pause
  readonly maintenance: Maintenance
  readonly statistics: DoorStatistics
  fill(slot: Slot, reply: Uint8Array): void
  refuse(slot: Slot, text: string): void
}

export class Routes {
  readonly #door: RoutesDoor
  readonly #cluster: Cluster
  readonly #copies: Copies

  constructor(door: RoutesDoor, copies: Copies) {
    this.#door = door
    this.#cluster = door.cluster
    this.#copies = copies
  }

  /** Everything of the session that is begun from now on goes by the table as it is. */
  set(session: Session): void {
    const { table } = this.#cluster
    session.routeTable = table
    session.routeVersion = table.version
    session.waitsAlone = false
  }

  /** The bucket of the slot's hash if it can be served here and now; otherwise the slot is seen to. */
  find(slot: Slot): BucketState | undefined {
    const cluster = this.#cluster
    const { parking, pauses } = this.#door
    if (slot.untilMs > 0 && cluster.now > slot.untilMs) {
      this.#door.fill(slot, AGAIN)
      return undefined
    }
    if (slot.write && pauses.ofWrites) {
      // A pause holds clients back where they are connected.
      if (slot.session.remote === undefined) this.postpone(slot)
      else this.#door.fill(slot, AGAIN)
      return undefined
    }
    if (slot.sinceMs > cluster.now) slot.sinceMs = 0
    const bucket = slot.hash & cluster.table.mask
    const state = cluster.buckets[bucket]
    if (state?.role !== 'primary') {
      if (state?.role === 'backup' && this.#mayAnswer(slot)) return state
      this.#sendOn(slot, bucket)
      return undefined
    }
    if (!cluster.mayServe()) parking.park(slot, 'limbo')
    else if (state.holding) {
      if (cluster.config.sabotage === 'refuse-during-hand-over') {
        this.#door.refuse(slot, 'TRYAGAIN the bucket is being handed over')
        return undefined
      }
      parking.park(slot, 'bucket')
      state.waiting.push(slot.session)
    } else if (slot.write && this.#copies.isCongested(state)) parking.park(slot, 'window')
    else return state
    return undefined
  }

  /** Whether a backup here may answer, which may be behind its primary. */
  #mayAnswer({ session, write }: Slot): boolean {
    return session.readsCopies && !write && this.#cluster.mayServe()
  }

  /** Until the pause is over; only from then on it counts how long it waits. */
  postpone(slot: Slot): void {
    slot.write = true
    slot.sinceMs = this.#door.pauses.untilMs
    this.#door.parking.park(slot, 'limbo')
  }

  /** The redirection for a client that wants to know where keys are, if they are not here. */
  moved(session: Session, hash: number): string | undefined {
    if (!session.isClusterAware) return undefined
    const { table, self, peers } = this.#cluster
    const primary = table.primaryOf(hash & table.mask)
    if (primary === NOBODY || primary === self) return undefined
    if (this.#door.maintenance.isRecent(session, hash & table.mask)) return undefined
    const peer = peers.get(table.nameOf(primary))
    // Nobody is sent to a node that is dead, as far as is known here.
    if (peer?.isOpen !== true) return undefined
    this.#door.statistics.moved++
    return `MOVED ${this.#door.ranks.reverse(hash)} ${peer.address}`
  }

  /** The bucket's primary is not here. */
  #sendOn(slot: Slot, bucket: number): void {
    const { table, peers, self, now } = this.#cluster
    const { lanes, parking } = this.#door
    const primary = table.primaryOf(bucket)
    const peer =
      primary === NOBODY || primary === self ? undefined : peers.get(table.nameOf(primary))
    const { session } = slot
    const hops = session.remote?.hops ?? 0
    const known = peer?.isOpen === true && peer.stream.peerLife !== 0
    // A write that nobody could say is too late might be executed by a node that was taken for dead.
    if (!known || hops >= HOPS_MAX || (slot.write && !lanes.knowsClock(peer))) {
      parking.park(slot, 'limbo')
      return
    }
    const moved = slot.collector === undefined ? this.moved(session, slot.hash) : undefined
    if (moved !== undefined) {
      this.#door.refuse(slot, moved)
      return
    }
    if (slot.sinceMs === 0) slot.sinceMs = now
    if (session.remote === undefined) this.#door.statistics.forwarded++
    lanes.add(slot, peer)
  }
}
