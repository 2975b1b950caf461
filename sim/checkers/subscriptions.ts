/**
 * Subscriptions miss nothing they were promised (docs/decisions/0007-events.md). On one connection, from the confirmation of
 * a watch on: every acknowledged write to a matching key that was issued afterwards is seen as an event; no event is
 * seen that no write accounts for; none is seen twice; those of a bucket come in the order of their numbers, and those
 * of a key too when its bucket is split. Who watches everything sees every number. A watcher that
 * is told that it missed something starts anew from there.
 *
 * An event does not say which write it is of. Where a key has one writer its writes follow each other and so must its
 * events; everywhere the events of a kind are counted against the writes that must have made one, and those
 * that may have.
 */
import { latin1Bytes } from '../../src/core/bytes.js'
import { redisHash } from '../../src/core/hash/placement-hash.js'
import type { NodeEvent } from '../../src/node/outbox.js'
import { matchesGlob } from '../../src/core/glob.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import type { InspectedCopy } from '../driven-node.js'
import { WATCH_FAMILY } from '../families/watchers.js'
import { describeOperation, type Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

const CHANGES = ['set', 'deleted', 'expired'] as const
type Change = (typeof CHANGES)[number]
type Counts = Record<Change, number>

const PENDING = { kind: 'pending' } as const

/** Families of keys with one writer that has one write under way at a time. */
const ONE_WRITER = new Set(['register', 'bulk', 'lease'])
/** Their writes are acknowledged by the primary alone, and may be lost. */
const LOOSE = new Set(['loose'])
/** After the last split, nodes with the old mask may still number for all pieces together. */
const SPLIT_MS = 10_000
/** What has expired is looked for from time to time. */
const EXPIRY_MS = 15_000

interface Seen {
  readonly seq: number
  readonly change: Change
  readonly atMs: number
}

/** What it has to know of the simulation. */
interface Observed {
  readonly now: number
  view(): {
    readonly nodes: readonly { readonly held: readonly Pick<InspectedCopy, 'bucket' | 'seq'>[] }[]
  }
}

/** One connection of a watcher, from its watch on. */
interface Connection {
  readonly pattern: string
  readonly watchedMs: number
  confirmedMs: number
  /** The last moment at which it was seen to be up. */
  aliveMs: number
  readonly byKey: Map<string, Seen[]>
  /** How many events of each kind that was, by key. */
  readonly counts: Map<string, Counts>
  readonly byBucket: Map<number, Seen>
  /** The numbers of the buckets' last writes when it was confirmed. */
  readonly seqs: Map<number, number>
}

export class SubscriptionsChecker implements Checker {
  readonly name = 'subscriptions miss nothing they were promised'
  readonly #slackMs: number
  readonly #connections = new Map<number, Connection>()
  /** Everything that writes, by key, in the order in which it was issued. */
  readonly #writes = new Map<string, Operation[]>()
  /** How many of them can be what an event tells of. */
  readonly #mayBe = new Map<string, Counts>()
  #splitMs = -Infinity
  #restMs = Infinity
  readonly #simulation: Observed
  /** Events seen, and events that had to be seen by somebody at the end. */
  events = 0
  owed = 0

  /** `slackMs`: how much the clocks of two nodes may differ. */
  constructor(slackMs: number, simulation: Observed) {
    this.#slackMs = slackMs
    this.#simulation = simulation
  }

  onEvent(_node: string, event: NodeEvent, now: number): void {
    if (event.kind === 'split') this.#splitMs = now
    // What was in it is gone, and what was said of it means nothing any more.
    if (event.kind === 'lost') this.#connections.clear()
  }

  onInvoke(operation: Operation): void {
    if (operation.family === WATCH_FAMILY) {
      if (operation.args[0] === 'OC.WATCH') this.#open(operation)
      return
    }
    const { kind } = operation.action
    if (kind === 'read' || kind === 'session') return
    const writes = this.#writes.get(operation.key)
    if (writes === undefined) this.#writes.set(operation.key, [operation])
    else writes.push(operation)
    this.#count(operation, 1)
  }

  onComplete(operation: Operation): void {
    if (operation.family !== WATCH_FAMILY) {
      this.#count(operation, -1)
      return
    }
    const connection = this.#connections.get(operation.client)
    if (connection === undefined) return
    if (operation.outcome.kind !== 'ok') {
      this.#connections.delete(operation.client)
      return
    }
    if (operation.args[0] === 'OC.WATCH') {
      connection.confirmedMs = operation.completedMs
      this.#noteSeqs(connection)
    }
    connection.aliveMs = operation.invokedMs
  }

  /** The watcher's connection has ended. */
  onLost(watcher: number): void {
    this.#connections.delete(watcher)
  }

  onPush(watcher: number, push: readonly ReplyValue[]): void {
    const connection = this.#connections.get(watcher)
    if (connection === undefined) return
    const [name, bucket, seq, change, key] = push
    if (name === 'oc.gap') {
      this.#connections.delete(watcher)
      return
    }
    if (
      name !== 'oc.event' ||
      typeof bucket !== 'number' ||
      typeof seq !== 'number' ||
      typeof key !== 'string' ||
      !isChange(change)
    ) {
      this.#fail(watcher, `this is no event: ${JSON.stringify(push)}`)
    }
    this.events++
    if (!matchesGlob(connection.pattern, key)) {
      this.#fail(watcher, `${key} is not of its pattern ${connection.pattern}`)
    }
    const seen = { seq, change, atMs: this.#simulation.now }
    this.#judgeBucket(watcher, connection, { bucket, key, seen })
    this.#judgeKey(watcher, connection, { key, seen })
  }

  onRest(): void {
    this.#restMs = this.#simulation.now
  }

  onEnd(): void {
    for (const [watcher, connection] of this.#connections) {
      // Of a node that went down without a word, its clients learn later.
      if (connection.confirmedMs === Infinity || connection.aliveMs < this.#restMs) continue
      for (const [key, writes] of this.#writes) {
        if (!matchesGlob(connection.pattern, key)) continue
        const seen = connection.byKey.get(key) ?? []
        this.#judgeCounts(watcher, connection, { key, writes, seen })
        if (ONE_WRITER.has(writes[0].family)) {
          this.#judgeOrder(watcher, connection, { key, writes, seen })
          this.#judgeExpiry(watcher, connection, { key, writes, seen })
        }
      }
    }
  }

  /** A write may be any event of its kind until it is known to have changed nothing. */
  #count(write: Operation, by: 1 | -1): void {
    const counts = this.#mayBe.get(write.key) ?? noChanges()
    this.#mayBe.set(write.key, counts)
    const { action } = write
    for (const change of CHANGES) {
      if (!mayMake({ action, outcome: PENDING }, change)) continue
      if (by > 0 || !mayMake(write, change)) counts[change] += by
    }
  }

  #noteSeqs({ seqs }: Connection): void {
    for (const { held } of this.#simulation.view().nodes) {
      for (const { bucket, seq } of held) seqs.set(bucket, Math.max(seq, seqs.get(bucket) ?? 0))
    }
  }

  #open(operation: Operation): void {
    this.#connections.set(operation.client, {
      pattern: operation.place,
      watchedMs: operation.invokedMs,
      confirmedMs: Infinity,
      aliveMs: -Infinity,
      byKey: new Map(),
      counts: new Map(),
      byBucket: new Map(),
      seqs: new Map()
    })
  }

  #judgeBucket(
    watcher: number,
    connection: Connection,
    { bucket, key, seen }: { bucket: number; key: string; seen: Seen }
  ): void {
    const hash = redisHash.hash(latin1Bytes(key), 0, key.length)
    if (![0xf, 0xff, 0xfff, 0x3fff].some((mask) => (hash & mask) === bucket)) {
      this.#fail(watcher, `${key} is not in bucket ${bucket}`)
    }
    const last = connection.byBucket.get(bucket)
    connection.byBucket.set(bucket, seen)
    if (last !== undefined && seen.seq <= last.seq) {
      this.#fail(watcher, `bucket ${bucket}: ${seen.seq} (${key}) comes after ${last.seq}`)
    }
    const before = this.#knownBefore(connection, bucket, last)
    if (connection.pattern === '*' && before !== undefined && seen.seq > before + 1) {
      this.#fail(watcher, `bucket ${bucket}: ${seen.seq} (${key}) comes right after ${before}`)
    }
  }

  /** The number after which none may be left out for who watches everything; undefined where it is not known. */
  #knownBefore(connection: Connection, bucket: number, last: Seen | undefined): number | undefined {
    const splitMs = this.#splitMs + SPLIT_MS
    if (connection.confirmedMs === Infinity) return undefined
    if (connection.confirmedMs <= splitMs) {
      return last !== undefined && last.atMs > splitMs ? last.seq : undefined
    }
    // Of what was written before, some may be told and some not.
    return Math.max(connection.seqs.get(bucket) ?? 0, last?.seq ?? 0)
  }

  #judgeKey(
    watcher: number,
    connection: Connection,
    { key, seen }: { key: string; seen: Seen }
  ): void {
    const events = connection.byKey.get(key) ?? []
    connection.byKey.set(key, events)
    const last = events.at(-1)
    if (last !== undefined && seen.seq <= last.seq) {
      this.#fail(watcher, `${key}: ${seen.seq} comes after ${last.seq}`)
    }
    events.push(seen)
    const may = this.#mayBe.get(key)?.[seen.change] ?? 0
    const counts = connection.counts.get(key) ?? noChanges()
    connection.counts.set(key, counts)
    const count = ++counts[seen.change]
    if (count > may) {
      this.#fail(
        watcher,
        `${key}: ${count} times ${seen.change}, but only ${may} writes could be it`
      )
    }
  }

  #judgeCounts(watcher: number, connection: Connection, about: KeyHistory): void {
    const { key, writes, seen } = about
    for (const change of CHANGES) {
      const must = writes.filter((write) => mustMake(write, change, connection.confirmedMs))
      this.owed += must.length
      const from = must.at(0)?.invokedMs ?? Infinity
      const told = seen.filter((event) => event.change === change && event.atMs >= from).length
      if (told >= must.length) continue
      const text = `${key}: ${must.length} times ${change}, and it was told of ${told}`
      this.#fail(watcher, `${text}; the last one was ${describeOperation(must[must.length - 1])}`)
    }
  }

  /** Its writes follow each other, and so must its events. Only the last write can be one of unknown outcome. */
  #judgeOrder(watcher: number, connection: Connection, { key, writes, seen }: KeyHistory): void {
    const told = seen.map(({ change }) => change).filter((change) => change !== 'expired')
    const due: Change[] = []
    for (const write of writes) {
      const change = mayMake(write, 'deleted') ? 'deleted' : 'set'
      if (mustMake(write, change, connection.confirmedMs)) due.push(change)
    }
    const last = writes[writes.length - 1]
    const doubtful = last.outcome.kind === 'ok' ? [] : CHANGES.filter((it) => mayMake(last, it))
    const wanted = [due, ...doubtful.map((change) => [...due, change])]
    if (wanted.some((list) => endsWith(told, list))) return
    this.#fail(watcher, `${key}: was told ${told.join(' ')}, and what was done is ${due.join(' ')}`)
  }

  /** What expired long ago was told to be gone, as the last thing of its key. */
  #judgeExpiry(watcher: number, connection: Connection, { key, writes, seen }: KeyHistory): void {
    const last = writes[writes.length - 1]
    const { action } = last
    if (action.kind !== 'put' || action.ttlMs === undefined) return
    if (!mustMake(last, 'set', connection.confirmedMs)) return
    const due = last.completedMs + action.ttlMs + this.#slackMs + EXPIRY_MS
    if (due > connection.aliveMs || seen.at(-1)?.change === 'expired') return
    this.#fail(watcher, `${key}: was not told that it expired: ${describeOperation(last)}`)
  }

  #fail(watcher: number, what: string): never {
    const confirmed = this.#connections.get(watcher)?.confirmedMs ?? Infinity
    const since = (confirmed / 1000).toFixed(6)
    throw new BrokenPromise(this.name, `watcher ${watcher}, confirmed at ${since}: ${what}`)
  }
}

interface KeyHistory {
  readonly key: string
  readonly writes: readonly Operation[]
  readonly seen: readonly Seen[]
}

function noChanges(): Counts {
  return { set: 0, deleted: 0, expired: 0 }
}

function endsWith(list: readonly Change[], end: readonly Change[]): boolean {
  const from = list.length - end.length
  return from >= 0 && end.every((change, i) => list[from + i] === change)
}

function isChange(value: ReplyValue | undefined): value is Change {
  return CHANGES.some((change) => change === value)
}

/** Whether this write can be what an event of that kind tells of. */
function mayMake(
  { action, outcome }: Pick<Operation, 'action' | 'outcome'>,
  change: Change
): boolean {
  if (outcome.kind === 'error') return false
  if (change === 'expired') return action.kind === 'put' && action.ttlMs !== undefined
  const deletes = action.kind === 'remove' || action.kind === 'erase'
  if (deletes !== (change === 'deleted')) return false
  // It was refused by its own condition, or there was nothing to delete.
  return outcome.kind !== 'ok' || (outcome.value !== false && !(deletes && outcome.value === 0))
}

/** Whether it must have been seen by who watched from then on. */
function mustMake(write: Operation, change: Change, fromMs: number): boolean {
  if (write.outcome.kind !== 'ok' || write.invokedMs <= fromMs || LOOSE.has(write.family))
    return false
  return change !== 'expired' && mayMake(write, change)
}
