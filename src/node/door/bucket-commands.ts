/**
 * Commands about one bucket, by which the whole cluster is gone through (keyspace.ts). They name a rank (rank.ts) and
 * are executed where the primary of its bucket is, like commands about a key. Each answers
 *
 *   first rank of the bucket, rank after its last, position to go on from or -1, epoch, number, and what was found
 *
 * so that whoever asks sees what it has been told about, whatever the mask was there. None of them holds a node up:
 * they look at a bounded number of records unless asked for all of them.
 */
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import type { Arguments } from '../../commands/arguments.js'
import { SYNTAX_ERROR } from '../../commands/error-text.js'
import { matchesGlob } from '../../core/glob.js'
import { POSITIONS } from '../../store/key-index.js'
import { kindOfType, TYPE_TOMBSTONE } from '../../store/value-type.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Slot } from '../session.js'
import type { Door, DoorCommand } from './door.js'
import { POSITION_STEP } from './rank.js'

/** What a bucket command found. */
interface Found {
  /** In units of POSITION_STEP, or -1 at the end. */
  readonly next: number
  readonly number: number
  readonly keys: readonly Uint8Array[]
  readonly changed?: boolean
}

type Look = (state: BucketState, from: number) => Found

/** The live records of a bucket from a position on, about so many; gives the position to go on from, or -1. */
function walk(
  { items }: BucketState,
  range: { from: number; count: number; now: number },
  visit: (ref: number) => void
): { next: number; seen: number } {
  let seen = 0
  let last = -1
  const stop = items.walk(range.from * POSITION_STEP, (ref, position) => {
    const unit = Math.floor(position / POSITION_STEP)
    if (seen >= range.count && unit !== last) return false
    seen++
    last = unit
    if (items.typeOf(ref) === TYPE_TOMBSTONE) return true
    const expiry = items.expiryOf(ref)
    if (expiry === 0 || expiry > range.now) visit(ref)
    return true
  })
  return { next: stop === POSITIONS ? -1 : Math.floor(stop / POSITION_STEP), seen }
}

function serveRank(door: Door, slot: Slot, args: Arguments, write: boolean, look: Look): void {
  const [rank, position, epoch] = [args.integer(1), args.integer(2), args.integer(3)]
  const { ranks } = door
  if (!(rank >= 0 && rank < ranks.end && position >= 0 && epoch >= 0)) {
    door.refuse(slot, SYNTAX_ERROR)
    return
  }
  door.serve(slot, { hash: ranks.reverse(rank), write }, (state, reply) => {
    const start = ranks.start(rank, state.mask)
    // Another primary has another order: from the beginning.
    const from = ranks.isSameEpoch(epoch, state.epoch) ? position : 0
    const found = look(state, from)
    writeFound(reply, found, { start, end: start + ranks.width(state.mask), epoch: state.epoch })
    return found.changed === true
  })
}

function writeFound(
  reply: ReplyWriter,
  { next, number, keys }: Found,
  bucket: { start: number; end: number; epoch: number }
): void {
  reply.array(6)
  reply.integer(bucket.start)
  reply.integer(bucket.end)
  reply.integer(next)
  reply.integer(bucket.epoch)
  reply.integer(number)
  reply.array(keys.length)
  for (const key of keys) reply.bulkString(latin1String(key, 0, key.length))
}

/** OC.SCAN rank position epoch count type pattern: keys; the number is of the records looked at. */
const OC_SCAN = {
  name: 'oc.scan',
  arity: 7,
  execute(door, slot, args) {
    const count = args.integer(4)
    const type = args.text(5)
    const pattern = args.text(6)
    const { now } = door.cluster
    serveRank(door, slot, args, false, (state, from) => {
      const keys: Uint8Array[] = []
      const { items } = state
      const range = { from, count: count < 0 ? Infinity : count, now }
      const { next, seen } = walk(state, range, (ref) => {
        if (type !== '' && kindOfType(items.typeOf(ref)) !== type) return
        const key = items.keyBytes(ref)
        if (pattern === '*' || matchesGlob(pattern, latin1String(key, 0, key.length)))
          keys.push(key)
      })
      return { next, number: seen, keys }
    })
  }
} as const satisfies DoorCommand

/** OC.SIZE rank 0 0: the number of items. */
const OC_SIZE = {
  name: 'oc.size',
  arity: 4,
  execute(door, slot, args) {
    serveRank(door, slot, args, false, ({ items }) => {
      items.settle()
      return { next: -1, number: items.items, keys: [] }
    })
  }
} as const satisfies DoorCommand

/** OC.SAMPLE rank 0 0: a key by chance, if there is one. */
const OC_SAMPLE = {
  name: 'oc.sample',
  arity: 4,
  execute(door, slot, args) {
    const { random, now } = door.cluster
    serveRank(door, slot, args, false, ({ items }) => {
      const ref = items.sample(random.uint32(), now)
      return { next: -1, number: 0, keys: ref === 0 ? [] : [items.keyBytes(ref)] }
    })
  }
} as const satisfies DoorCommand

const FLUSHED_AT_ONCE = 1000
const DEL = latin1Bytes('DEL')

/** OC.FLUSH rank position epoch: deletes items, each as a write of its own; the number is of the deleted. */
const OC_FLUSH = {
  name: 'oc.flush',
  arity: 4,
  execute(door, slot, args) {
    const range = { count: FLUSHED_AT_ONCE, now: -Infinity }
    serveRank(door, slot, args, true, (state, from) => {
      const keys: Uint8Array[] = []
      const { next } = walk(state, { ...range, from }, (ref) =>
        keys.push(state.items.keyBytes(ref))
      )
      const work = door.execution.workOn(state, args, door.execution.nowhere)
      for (const key of keys) work.run(DEL, key)
      return { next, number: keys.length, keys: [], changed: work.changed }
    })
  }
} as const satisfies DoorCommand

export const BUCKET_COMMANDS: readonly DoorCommand[] = [OC_SCAN, OC_SIZE, OC_SAMPLE, OC_FLUSH]
