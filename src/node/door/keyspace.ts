/**
 * Commands about all keys of the cluster: SCAN, KEYS, DBSIZE, RANDOMKEY, FLUSHALL. They go through the buckets in the
 * order of ranks, asking each bucket's primary, and hold for every key that is there all the time whatever
 * moves, switches or splits meanwhile: an answer says which ranks it is about, so what was left out is asked
 * for again, and what was told twice is dropped.
 */
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import type { Arguments } from '../../commands/arguments.js'
import { INVALID_CURSOR, NOT_AN_INTEGER, SYNTAX_ERROR } from '../../commands/error-text.js'
import { parseCursor } from '../../commands/scan.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { Slot } from '../session.js'
import { readBucketReplies, type BucketReply } from './bucket-reply.js'
import type { Door, DoorCommand } from './door.js'
import type { Place } from './rank.js'

/** Buckets that one step of a SCAN asks at once, at most. */
const WINDOW_MAX = 64
const COUNT = 10
const SAMPLES_MAX = 5

function request(name: string, place: Place, ...rest: string[]): Uint8Array {
  const words = [name, String(place.rank), String(place.position), String(place.epoch), ...rest]
  return encodeArguments(words.map(latin1Bytes))
}

/** The beginning of every bucket from a rank on. */
function bucketStarts(door: Door, from = 0, most = Infinity): Place[] {
  const { ranks, cluster } = door
  const width = ranks.width(cluster.table.mask)
  const places: Place[] = []
  for (let rank = from; rank < ranks.end && places.length < most;) {
    places.push({ rank, position: 0, epoch: 0 })
    rank = ranks.start(rank, cluster.table.mask) + width
  }
  return places
}

/** Asks all buckets and goes on asking until every rank has been answered for; `take` sees each bucket once. */
function sweep(
  door: Door,
  slot: Slot,
  ask: (place: Place) => Uint8Array,
  handle: { take: (reply: BucketReply) => void; done: () => void }
): void {
  const width = door.ranks.width(door.cluster.table.mask)
  const first = bucketStarts(door).map((place) => ({ place, until: place.rank + width }))
  const round = (asked: readonly { place: Place; until: number }[]): void => {
    door.ask(
      slot,
      asked.map(({ place }) => ask(place)),
      (parts) => {
        const replies = readBucketReplies(parts)
        if (typeof replies === 'string') {
          door.refuse(slot, replies)
          return
        }
        const more: { place: Place; until: number }[] = []
        replies.forEach((reply, i) => {
          const { place, until } = asked[i]
          // A larger bucket than asked for, answered for by the question after its beginning.
          if (reply.start < place.rank && place.position === 0) return
          handle.take(reply)
          const { next: position, epoch } = reply
          if (position >= 0) more.push({ place: { rank: place.rank, position, epoch }, until })
          else if (reply.end < until) {
            more.push({ place: { rank: reply.end, position: 0, epoch: 0 }, until })
          }
        })
        if (more.length === 0) handle.done()
        else round(more)
      }
    )
  }
  round(first)
}

interface ScanOptions {
  readonly count: number
  readonly pattern: string
  readonly type: string
}

function readScanOptions(args: Arguments): ScanOptions | string {
  let [count, pattern, type] = [COUNT, '*', '']
  for (let place = 2; place < args.count; place += 2) {
    if (place + 1 >= args.count) return SYNTAX_ERROR
    switch (args.word(place)) {
      case 'count':
        count = args.integer(place + 1)
        if (!(count >= 1)) return Number.isNaN(count) ? NOT_AN_INTEGER : SYNTAX_ERROR
        break
      case 'match':
        pattern = args.text(place + 1)
        break
      case 'type':
        type = args.word(place + 1)
        break
      default:
        return SYNTAX_ERROR
    }
  }
  return { count, pattern, type }
}

/** One SCAN: steps through the buckets, more of them at a time while they turn out to be empty. */
class Scan {
  readonly #door: Door
  readonly #slot: Slot
  readonly #options: ScanOptions
  readonly #keys: Uint8Array[] = []
  #seen = 0
  #window = 1

  constructor(door: Door, slot: Slot, options: ScanOptions) {
    this.#door = door
    this.#slot = slot
    this.#options = options
  }

  goOn(from: Place): void {
    const door = this.#door
    const { count, pattern, type } = this.#options
    const places = bucketStarts(door, from.rank, this.#window)
    places[0] = from
    const left = String(Math.max(1, count - this.#seen))
    const requests = places.map((place) => request('OC.SCAN', place, left, type, pattern))
    door.ask(this.#slot, requests, (parts) => {
      const replies = readBucketReplies(parts)
      if (typeof replies === 'string') door.refuse(this.#slot, replies)
      else this.#take(places, replies)
    })
  }

  #take(places: readonly Place[], replies: readonly BucketReply[]): void {
    const { ranks } = this.#door
    let covered = places[0].rank
    for (let i = 0; i < replies.length; i++) {
      const { end, next, epoch, number, keys } = replies[i]
      // Smaller buckets than expected: the next question was not about what comes next.
      if (places[i].rank > covered) break
      if (end <= covered) continue
      for (const key of keys) this.#keys.push(key)
      this.#seen += number
      if (next >= 0) {
        this.#reply(ranks.toCursor({ rank: covered, position: next, epoch }))
        return
      }
      covered = end
      if (this.#seen >= this.#options.count) break
    }
    if (covered >= ranks.end) this.#reply(0)
    else if (this.#seen >= this.#options.count) this.#reply(covered)
    else {
      this.#window = Math.min(this.#window * 2, WINDOW_MAX)
      this.goOn({ rank: covered, position: 0, epoch: 0 })
    }
  }

  #reply(cursor: number): void {
    this.#door.reply(this.#slot, (reply) => {
      reply.array(2)
      reply.bulkString(String(cursor))
      writeKeys(reply, this.#keys)
    })
  }
}

function writeKeys(reply: ReplyWriter, keys: readonly Uint8Array[]): void {
  reply.array(keys.length)
  for (const key of keys) reply.bulkString(latin1String(key, 0, key.length))
}

const SCAN = {
  name: 'scan',
  arity: -2,
  execute(door, slot, args) {
    const cursor = parseCursor(args.text(1))
    if (cursor === undefined) {
      door.refuse(slot, INVALID_CURSOR)
      return
    }
    const options = readScanOptions(args)
    if (typeof options === 'string') door.refuse(slot, options)
    else new Scan(door, slot, options).goOn(door.ranks.fromCursor(cursor))
  }
} as const satisfies DoorCommand

const KEYS = {
  name: 'keys',
  arity: 2,
  execute(door, slot, args) {
    const found: Uint8Array[] = []
    const pattern = args.text(1)
    sweep(door, slot, (place) => request('OC.SCAN', place, '-1', '', pattern), {
      take: ({ keys }) => keys.forEach((key) => found.push(key)),
      done: () => door.reply(slot, (reply) => writeKeys(reply, found))
    })
  }
} as const satisfies DoorCommand

const DBSIZE = {
  name: 'dbsize',
  arity: 1,
  execute(door, slot) {
    let size = 0
    sweep(door, slot, (place) => request('OC.SIZE', place), {
      take: ({ number }) => (size += number),
      done: () => door.reply(slot, (reply) => reply.integer(size))
    })
  }
} as const satisfies DoorCommand

/** A bucket by its size, and a key of it; again if that was just emptied. */
function replyRandomKey(door: Door, slot: Slot, tries: number): void {
  const sizes: { rank: number; size: number }[] = []
  let total = 0
  const pick = (): void => {
    let at = door.cluster.random.fraction() * total
    const chosen = sizes.find(({ size }) => (at -= size) < 0)
    if (chosen === undefined || tries === 0) {
      door.reply(slot, (reply) => reply.nil())
      return
    }
    const place = { rank: chosen.rank, position: 0, epoch: 0 }
    door.ask(slot, [request('OC.SAMPLE', place)], (parts) => {
      const replies = readBucketReplies(parts)
      const key = typeof replies === 'string' ? undefined : replies[0].keys.at(0)
      if (typeof replies === 'string') door.refuse(slot, replies)
      else if (key === undefined) replyRandomKey(door, slot, tries - 1)
      else door.reply(slot, (reply) => reply.bulkString(latin1String(key, 0, key.length)))
    })
  }
  sweep(door, slot, (place) => request('OC.SIZE', place), {
    take: ({ start, number }) => {
      sizes.push({ rank: start, size: number })
      total += number
    },
    done: pick
  })
}

const RANDOMKEY = {
  name: 'randomkey',
  arity: 1,
  execute: (door, slot) => replyRandomKey(door, slot, SAMPLES_MAX)
} as const satisfies DoorCommand

function flush(door: Door, slot: Slot, args: Arguments): void {
  if (args.count > 2 || (args.count === 2 && !['async', 'sync'].includes(args.word(1)))) {
    door.refuse(slot, SYNTAX_ERROR)
    return
  }
  sweep(door, slot, (place) => request('OC.FLUSH', place), {
    take: () => undefined,
    done: () => door.reply(slot, (reply) => reply.ok())
  })
}

const FLUSHALL = { name: 'flushall', arity: -1, execute: flush } as const satisfies DoorCommand
const FLUSHDB = { name: 'flushdb', arity: -1, execute: flush } as const satisfies DoorCommand

export const KEYSPACE_COMMANDS: readonly DoorCommand[] = [
  SCAN,
  KEYS,
  DBSIZE,
  RANDOMKEY,
  FLUSHALL,
  FLUSHDB
]
