/**
 * The table for clients that follow it. `OC.TABLE` is answered with the whole table; `OC.TABLE SUBSCRIBE` in addition
 * makes the session a follower, to whom every change is pushed as it happens. Reply and push have one form:
 *
 *   [ "oc.table", cluster, hash, mask, [name, address, …], [[bucket, epoch, primary, backup…], …] ]
 *
 * Holders are places in the list of nodes, primary first and -1 for nobody; the list has every node that the rows
 * name (all members in a reply). A push has only the rows that changed since the one before; after a split it may have
 * none at all, since a client expands its table by itself (`new[i] = old[i & oldMask]`). What the followers have is
 * kept once for all of them: each began with a whole table, so they all have the same.
 */
import type { NodeName } from '../core/ids.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import type { Cluster } from './cluster.js'

/** Per node; a client that wants to be one more gets an error at its door. */
export const FOLLOWERS_MAX = 10_000

const PUSH_BYTES = 4096
const ITEMS = 6

export class TableFeed {
  readonly #cluster: Cluster
  readonly #followers = new Set<number>()
  readonly #writer = new ReplyWriter({ protocol: 3, initialBytes: PUSH_BYTES })
  /** The epochs that the followers have, by bucket; its length says their mask. */
  #told = new Float64Array(0)

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** False if there are too many. The session must then be answered with the whole table. */
  add(session: number): boolean {
    const followers = this.#followers
    if (followers.size >= FOLLOWERS_MAX && !followers.has(session)) return false
    // The others must not be left out of what the newcomer gets to know.
    if (followers.size === 0) this.#remember()
    else this.rowsChanged()
    followers.add(session)
    return true
  }

  remove(session: number): void {
    this.#followers.delete(session)
  }

  /** Some rows may be others now, or the mask is larger: tells the followers what. */
  rowsChanged(): void {
    if (this.#followers.size === 0) return
    const { table, outbox } = this.#cluster
    const changed: number[] = []
    const told = this.#told
    const larger = table.size !== told.length
    // The number of buckets is a power of two, so this is the row the followers make by expanding.
    const mask = Math.min(table.mask, told.length - 1)
    for (let bucket = 0; bucket < table.size; bucket++) {
      if (table.epochOf(bucket) !== told[bucket & mask]) changed.push(bucket)
    }
    if (changed.length === 0 && !larger) return
    this.#remember()
    const writer = this.#writer
    writer.reset()
    writer.push(ITEMS)
    this.#write(writer, this.#holdersOf(changed), changed)
    const bytes = writer.bytes.subarray(0, writer.length)
    for (const session of this.#followers) outbox.output(session, bytes)
  }

  /** The whole table as a reply. */
  reply(writer: ReplyWriter): void {
    const { table, members } = this.#cluster
    const buckets: number[] = []
    for (let bucket = 0; bucket < table.size; bucket++) {
      if (table.epochOf(bucket) > 0) buckets.push(bucket)
    }
    const names = new Set(this.#holdersOf(buckets))
    for (const { name, state } of members.all()) if (state !== 'left') names.add(name)
    writer.array(ITEMS)
    this.#write(writer, [...names], buckets)
  }

  #remember(): void {
    const { table } = this.#cluster
    if (this.#told.length !== table.size) this.#told = new Float64Array(table.size)
    for (let bucket = 0; bucket < table.size; bucket++) this.#told[bucket] = table.epochOf(bucket)
  }

  #holdersOf(buckets: readonly number[]): NodeName[] {
    const { table } = this.#cluster
    const names = new Set<NodeName>()
    for (const bucket of buckets) {
      const { primary, backups } = table.row(bucket)
      if (primary !== null) names.add(primary)
      for (const backup of backups) names.add(backup)
    }
    return [...names]
  }

  #write(writer: ReplyWriter, names: readonly NodeName[], buckets: readonly number[]): void {
    const { table, members, peers, config } = this.#cluster
    writer.bulkString('oc.table')
    writer.bulkString(peers.cluster.toString(16).padStart(8, '0'))
    writer.bulkString(config.hash)
    writer.integer(table.mask)
    writer.array(names.length * 2)
    const places = new Map<NodeName, number>()
    for (const name of names) {
      places.set(name, places.size)
      writer.bulkString(name)
      writer.bulkString(members.get(name)?.address ?? '')
    }
    writer.array(buckets.length)
    for (const bucket of buckets) {
      const { epoch, primary, backups } = table.row(bucket)
      writer.array(3 + backups.length)
      writer.integer(bucket)
      writer.integer(epoch)
      writer.integer(primary === null ? -1 : (places.get(primary) ?? -1))
      for (const backup of backups) writer.integer(places.get(backup) ?? -1)
    }
  }
}
