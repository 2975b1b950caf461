/** Commands that cannot be executed yet: they wait in their sessions, and are tried again in the order they came in. */
import type { Cluster } from '../cluster.js'
import type { Session, Slot, Wait } from '../session.js'

export class Parking {
  /** Sessions with commands that wait to be tried again. */
  readonly sessions = new Set<Session>()
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  park(slot: Slot, wait: Wait): void {
    if (slot.sinceMs === 0) slot.sinceMs = this.#cluster.now
    slot.wait = wait
    slot.session.parked.push(slot)
    this.sessions.add(slot.session)
  }

  /** All that wait in a session, in order; none does afterwards. */
  take(session: Session): Slot[] {
    const slots = session.parked.filter(({ done }) => !done).sort((a, b) => a.order - b.order)
    this.forget(session)
    return slots
  }

  /** Those that have waited since before that moment. */
  *late(beforeMs: number): IterableIterator<Slot> {
    for (const { parked } of this.sessions) {
      for (const slot of parked) if (slot.sinceMs <= beforeMs) yield slot
    }
  }

  /** Sessions in which a write waits. */
  get writers(): number {
    let count = 0
    for (const { parked } of this.sessions) if (parked.some(({ write }) => write)) count++
    return count
  }

  forget(session: Session): void {
    session.parked = []
    this.sessions.delete(session)
  }
}
