/**
 * Telling clients that follow the topology where slots go, before they run into a redirection: `SMIGRATING seq slots`
 * when the last of a bucket is on its way, `SMIGRATED seq [[source, target, slots]]` when another node is its primary.
 * Clients hear it from several nodes and tell repetitions by the number, so it is made of the bucket and the epoch of
 * its row and is the same everywhere. A primary that died is told of as well: its clients send what they had not sent
 * yet to the node that took over, instead of giving it up with the connection (node-redis 6).
 *
 * A node that had no slots before is one that clients have to connect to first. node-redis 6 takes what it is told of
 * such a node meanwhile for a mistake and forgets it, so the rest is told a moment later.
 */
import { NOBODY, type NodeIndex } from '../../core/ids.js'
import type { BucketState } from '../bucket-state.js'
import type { Cluster } from '../cluster.js'
import type { Session } from '../session.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { RankOrder } from './rank.js'

/** More than there are buckets. */
const BUCKETS = 2 ** 16

/** After the first word of a node that had no slots, for clients to connect to it. */
const ACQUAINTANCE_MS = 250

/** Slots that have another primary. */
interface Migration {
  readonly seq: number
  readonly from: string
  readonly to: string
  readonly slots: string
}

/** What it needs of the door. */
export interface MaintenanceDoor {
  readonly cluster: Cluster
  readonly ranks: RankOrder
  push(session: Session, write: (reply: ReplyWriter) => void): void
}

export class Maintenance {
  readonly #door: MaintenanceDoor
  readonly #cluster: Cluster
  readonly #sessions = new Set<Session>()
  /** The primary of each bucket when it was last looked, while anybody wants to know. */
  #primaries: NodeIndex[] = []
  /** Not told yet, in order. */
  #untold: Migration[] = []
  #quietUntilMs = 0

  constructor(door: MaintenanceDoor) {
    this.#door = door
    this.#cluster = door.cluster
  }

  on(session: Session): void {
    if (this.#sessions.size === 0) this.#look()
    this.#sessions.add(session)
  }

  off(session: Session): void {
    this.#sessions.delete(session)
  }

  /** When there is something to tell; Infinity if there is nothing. */
  get deadline(): number {
    return this.#untold.length === 0 ? Infinity : this.#quietUntilMs
  }

  tick(): void {
    if (this.#cluster.now < this.deadline) return
    const untold = this.#untold
    this.#untold = []
    for (const migration of untold) this.#tell(migration)
  }

  rowsChanged(): void {
    if (this.#sessions.size === 0) return
    const before = this.#primaries
    this.#look()
    const { table } = this.#cluster
    const known = new Set(before)
    for (let bucket = 0; bucket < table.size; bucket++) {
      const [source, target] = [before[bucket & (before.length - 1)], this.#primaries[bucket]]
      if (source === target) continue
      this.#note(bucket, source, target, !known.has(target))
      known.add(target)
    }
    this.tick()
  }

  /** The primary role of a bucket here is about to go to another node. */
  migrating({ id, epoch }: BucketState): void {
    const slots = this.#slotsOf(id)
    for (const session of this.#sessions) {
      this.#door.push(session, (reply) => {
        reply.push(3)
        reply.bulkString('SMIGRATING')
        reply.integer((epoch * BUCKETS + id) * 2)
        reply.bulkString(slots)
      })
    }
  }

  #note(bucket: number, source: NodeIndex, target: NodeIndex, isNew: boolean): void {
    const [from, to] = [this.#addressOf(source), this.#addressOf(target)]
    if (from === undefined || to === undefined || !this.#isHeard(target)) return
    const { table, now } = this.#cluster
    const seq = (table.epochOf(bucket) * BUCKETS + bucket) * 2 + 1
    this.#untold.push({ seq, from, to, slots: this.#slotsOf(bucket) })
    if (!isNew) return
    this.#quietUntilMs = 0
    this.tick()
    this.#quietUntilMs = now + ACQUAINTANCE_MS
  }

  #tell({ seq, from, to, slots }: Migration): void {
    for (const session of this.#sessions) {
      this.#door.push(session, (reply) => {
        reply.push(3)
        reply.simple('SMIGRATED')
        reply.integer(seq)
        reply.array(1)
        reply.array(3)
        for (const text of [from, to, slots]) reply.simple(text)
      })
    }
  }

  #addressOf(node: NodeIndex): string | undefined {
    const { self, config } = this.#cluster
    if (node === NOBODY) return undefined
    return node === self ? config.address : this.#cluster.peerOf(node)?.address
  }

  #isHeard(node: NodeIndex): boolean {
    return node === this.#cluster.self || this.#cluster.peerOf(node)?.isOpen === true
  }

  #slotsOf(bucket: number): string {
    const { ranks } = this.#door
    const { mask } = this.#cluster.table
    const first = ranks.start(ranks.reverse(bucket), mask)
    const last = first + ranks.width(mask) - 1
    return first === last ? String(first) : `${first}-${last}`
  }

  #look(): void {
    const { table } = this.#cluster
    this.#primaries = Array.from({ length: table.size }, (_, bucket) => table.primaryOf(bucket))
  }
}
