/**
 * A queue of work: every item is given to one taker at a time, and to another one if that one does not say within its time
 * that it is done. So nothing is lost when a worker or a node dies, and an item may be given out twice.
 *
 * The items are members of one sorted set, by the time they were put in. Each has a number of its own, so that putting it in
 * can be repeated when an answer is lost. Taking one is a claim beside it that expires; being done removes both. Order is
 * that of the producers' clocks: exact for one producer, within their difference for several.
 */
import { randomUUID } from 'node:crypto'
import type { CollectionCommands } from './collection-commands.js'
import { Pauses } from './pause.js'
import { toJson } from './string-commands.js'
import { deleteSurely, repeatUntilKnown, writeSurely } from './sure-write.js'

/** How an item is taken from a queue. */
export interface TakeOptions {
  /** How long the item is hidden from others. Default 30,000 ms. */
  readonly hideMs?: number
  /** How long to wait for an item if there is none. Default not at all. */
  readonly waitMs?: number
}

const HIDE_MS_DEFAULT = 30_000
/** Items looked at for one that nobody has claimed. */
const LOOKED_AT = 32
/** Smaller steps of time would be lost in the digits of a double. */
const STEP_MS = 0.001

/** Work that survives the death of workers and nodes. Made by `client.queue`. */
export class ClusterQueue<T> {
  readonly name: string
  readonly #client: CollectionCommands
  readonly #key: string
  readonly #self = randomUUID()
  #lastMs = 0
  #count = 0

  constructor(client: CollectionCommands, name: string) {
    this.name = name
    this.#client = client
    this.#key = `queue:{${name}}`
  }

  /** Items that are not done, taken ones included. */
  length(): Promise<number> {
    return this.#client.zcard(this.#key)
  }

  /** Puts an item in; it is there when this resolves. */
  async push(value: T): Promise<void> {
    this.#lastMs = Math.max(Date.now(), this.#lastMs + STEP_MS)
    const score = this.#lastMs
    const member = `${this.#self}.${this.#count++} ${toJson(value)}`
    await repeatUntilKnown(() => this.#client.zadd(this.#key, { member, score }))
  }

  /** The oldest item that nobody has; null if there is none. */
  async take(options: TakeOptions = {}): Promise<QueueItem<T> | null> {
    const hideMs = options.hideMs ?? HIDE_MS_DEFAULT
    const pauses = new Pauses(options.waitMs ?? 0)
    do {
      for (let from = 0; ; from += LOOKED_AT) {
        const members = await this.#client.zrange(this.#key, from, from + LOOKED_AT - 1)
        for (const member of members) {
          const item = await this.#claim(member, hideMs)
          if (item !== null) return item
        }
        if (members.length < LOOKED_AT) break
      }
    } while (await pauses.next())
    return null
  }

  async #claim(member: string, hideMs: number): Promise<QueueItem<T> | null> {
    const client = this.#client
    const id = member.slice(0, member.indexOf(' '))
    const key = `${this.#key}:claim:${id}`
    const value = randomUUID()
    const claim = { key, expected: null, value, ttlMs: hideMs }
    if (!(await writeSurely(client, claim))) return null
    // Somebody may have finished it between the look and the claim.
    if ((await client.zscore(this.#key, member)) === null) {
      await deleteSurely(client, key, value)
      return null
    }
    return new QueueItem<T>(client, { queue: this.#key, member, claim: key, owner: value, hideMs })
  }
}

interface Claim {
  readonly queue: string
  readonly member: string
  readonly claim: string
  readonly owner: string
  readonly hideMs: number
}

/** An item that was taken: say `done` in time, or another taker gets it. */
export class QueueItem<T> {
  readonly value: T
  readonly #client: CollectionCommands
  readonly #claim: Claim

  constructor(client: CollectionCommands, claim: Claim) {
    this.value = JSON.parse(claim.member.slice(claim.member.indexOf(' ') + 1)) as T
    this.#client = client
    this.#claim = claim
  }

  /** Takes it out of the queue for good; false if somebody else had done so. */
  async done(): Promise<boolean> {
    const { queue, member, claim, owner } = this.#claim
    const removed = await repeatUntilKnown(() => this.#client.zrem(queue, member))
    await deleteSurely(this.#client, claim, owner)
    return removed === 1
  }

  /** Needs more time: hides it anew. False if somebody else may have it already. */
  keep(): Promise<boolean> {
    const { claim: key, owner, hideMs: ttlMs } = this.#claim
    return writeSurely(this.#client, { key, expected: owner, value: owner, ttlMs })
  }

  /** Gives it back: others may take it at once. */
  async giveBack(): Promise<void> {
    await deleteSurely(this.#client, this.#claim.claim, this.#claim.owner)
  }
}
