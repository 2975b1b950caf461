/**
 * Telling clients that follow the topology where slots go, before they run into a redirection: `SMIGRATING seq slots`
 * when the last of a bucket is on its way, `SMIGRATED seq [[source, target, slots] ...]` when others are primaries.
 * Clients hear it from several nodes and tell repetitions by the number, so it is made of the buckets and the epochs of
 * their rows and is the same wherever the same is told. A primary that died is told of as well: its clients send what
 * they had not sent yet to the node that took over, instead of giving it up with the connection (node-redis 6).
 *
 * A node that had no slots before is one that clients have to connect to first. node-redis 6 takes what it is told of
 * such a node meanwhile for a mistake and forgets it, so the rest is told a moment later.
 *
 * redis-py and go-redis do not read where the slots went: they ask some node for the whole topology, once for each
 * number. So what moved is told all at once, when the other nodes have had the time to hear of it as well; until then
 * commands are passed on. Only of a node that died it is told immediately, since nobody passes on what is sent to it.
 * redis-py does not ask again while it asks, and may be busy with that when the last word comes. So there is one more
 * when all is at rest: it names no node as the source, for which redis-py asks once more and the others, who know all,
 * do nothing.
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

/** From a move to the word of it, for all nodes to know. */
const SPREAD_MS = 250

/** From the last word of a move until it is taken for the last. */
const REST_MS = 1500
/** Where nobody lives. */
const NOWHERE = '0.0.0.0:0'

/** What a number says besides the bucket and its epoch. */
const MIGRATING = 0
const MIGRATED = 1
const AT_REST = 2
const KINDS = 4

/** A bucket that has another primary than clients were told. */
interface Move {
  readonly from: string
  readonly slots: string
  /** The bucket and the epoch of its row. */
  readonly row: number
}

/** What numbers are made of stays below this, so that they are integers. */
const NUMBERS = 2 ** 45

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
  /** Not told yet, by the bucket. */
  readonly #untold = new Map<number, Move>()
  /** Moved since all was at rest. */
  readonly #recent = new Set<number>()
  #tellAtMs = 0
  /** The bucket with the newest row of those that were told since all was at rest, the same at all nodes. */
  #latest: { readonly bucket: number; readonly row: number } | undefined
  #restAtMs = 0
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

  /** Whether the session is told of the bucket's move without running into a redirection first. */
  isRecent(session: Session, bucket: number): boolean {
    if (!this.#sessions.has(session)) return false
    const known = this.#primaries[bucket & (this.#primaries.length - 1)]
    return this.#recent.has(bucket) || known !== this.#cluster.table.primaryOf(bucket)
  }

  /** When there is something to tell; Infinity if there is nothing. */
  get deadline(): number {
    if (this.#untold.size > 0) return Math.max(this.#tellAtMs, this.#quietUntilMs)
    return this.#latest === undefined ? Infinity : this.#restAtMs
  }

  tick(): void {
    if (this.#cluster.now < this.deadline) return
    if (this.#untold.size > 0) this.#tellMoves()
    else if (this.#latest !== undefined) this.#tellRest(this.#latest)
  }

  rowsChanged(): void {
    if (this.#sessions.size === 0) return
    const { table } = this.#cluster
    const before = this.#primaries
    // What is not told is known by buckets, which are others now.
    if (before.length !== table.size) {
      this.#tellMoves()
      this.#recent.clear()
    }
    this.#look()
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
        reply.integer((epoch * BUCKETS + id) * KINDS + MIGRATING)
        reply.bulkString(slots)
      })
    }
  }

  #note(bucket: number, source: NodeIndex, target: NodeIndex, isNew: boolean): void {
    const from = this.#untold.get(bucket)?.from ?? this.#addressOf(source)
    if (from === undefined || this.#addressOf(target) === undefined || !this.#isHeard(target))
      return
    const { table, now } = this.#cluster
    if (this.#untold.size === 0) this.#tellAtMs = now + SPREAD_MS
    const row = table.epochOf(bucket) * BUCKETS + bucket
    this.#untold.set(bucket, { from, row, slots: this.#slotsOf(bucket) })
    this.#recent.add(bucket)
    if (isNew || !this.#isHeard(source)) this.#tellAtMs = now
    if (!isNew) return
    this.#tellMoves()
    this.#quietUntilMs = now + ACQUAINTANCE_MS
  }

  /** Where what has moved is now. */
  #tellMoves(): void {
    const ranges = new Map<string, string[]>()
    let number = 0
    const untold = [...this.#untold].sort(([one], [other]) => one - other)
    this.#untold.clear()
    for (const [bucket, { from, row, slots }] of untold) {
      const target = this.#primaries[bucket]
      const to = this.#addressOf(target)
      if (to === undefined || to === from || !this.#isHeard(target)) continue
      const places = `${from} ${to}`
      ranges.set(places, [...(ranges.get(places) ?? []), slots])
      number = (number * 31 + row) % NUMBERS
      if (this.#latest === undefined || row > this.#latest.row) this.#latest = { bucket, row }
    }
    if (this.#latest === undefined) this.#recent.clear()
    if (ranges.size === 0) return
    this.#restAtMs = this.#cluster.now + REST_MS
    const moves = [...ranges].map(([places, slots]) => [...places.split(' '), slots.join(',')])
    this.#tell(number * KINDS + MIGRATED, moves)
  }

  #tellRest({ bucket, row }: { readonly bucket: number; readonly row: number }): void {
    this.#latest = undefined
    this.#recent.clear()
    const to = this.#addressOf(this.#primaries[bucket] ?? NOBODY)
    if (to === undefined) return
    this.#tell((row % NUMBERS) * KINDS + AT_REST, [[NOWHERE, to, this.#slotsOf(bucket)]])
  }

  #tell(seq: number, moves: readonly (readonly string[])[]): void {
    for (const session of this.#sessions) {
      this.#door.push(session, (reply) => {
        reply.push(3)
        reply.simple('SMIGRATED')
        reply.integer(seq)
        reply.array(moves.length)
        for (const move of moves) {
          reply.array(move.length)
          for (const text of move) reply.simple(text)
        }
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
