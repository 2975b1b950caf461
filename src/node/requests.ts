/**
 * The data path: parse, find the bucket, execute, replicate, reply. One `Call`, one parser and one reply buffer
 * serve all sessions, so a command on a bucket that is here costs no object. What cannot be served here
 * and now is held or sent on, never refused: a bucket in hand-over holds, another node's bucket is
 * forwarded, a bucket without a reachable primary waits for one.
 */
import { latin1Bytes, latin1String, NO_BYTES, viewOf } from '../core/bytes.js'
import { placementHash, type PlacementHash } from '../core/hash/placement-hash.js'
import { NOBODY } from '../core/ids.js'
import { Call } from '../commands/call.js'
import type { Command } from '../commands/command.js'
import { findCommand, hasArity, checkArity } from '../commands/registry.js'
import { RequestParser, INCOMPLETE, PROTOCOL_ERROR } from '../wire/resp/request-parser.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import { HybridClock } from '../store/clock.js'
import { StoreLimitError } from '../store/slab.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import type { Peer } from './peers.js'
import { Session, type Block, type Gate } from './session.js'
import { WATCHES_MAX, type Watches } from './watches.js'

/** A request is passed on so often before it waits where it is. */
const HOPS_MAX = 6
/** As many words as any command about the conversation has. */
const WORDS_MAX = 8
/** Replies of one turn that are gathered before they are put out. */
const REPLY_BYTES_MAX = 1024 * 1024
/** Requests of other nodes get negative session numbers. */
const REMOTE_SESSIONS = -1

/** As Redis words them, where it has the same limit. */
const LIMIT_TEXTS = {
  'slab-full': "OOM command not allowed when used memory > 'maxmemory'.",
  'value-too-long': 'ERR string exceeds maximum allowed size (proto-max-bulk-len)',
  'key-too-long': 'ERR key is longer than 65535 bytes'
} as const

export class Requests {
  readonly #cluster: Cluster
  readonly #copies: Copies
  readonly #watches: Watches
  readonly #hash: PlacementHash
  readonly #parser: RequestParser
  readonly #reply = new ReplyWriter()
  readonly #call: Call
  readonly #sessions = new Map<number, Session>()
  /** Sessions with replies that wait for acknowledgements. */
  readonly #gated = new Set<Session>()
  /** Sessions that wait for a reachable primary, or for a backup to catch up. */
  readonly #limbo = new Set<Session>()
  readonly #forwards = new Map<number, Session>()
  #nextForward = 1
  #nextRemote = REMOTE_SESSIONS
  #gates: Gate[] = []
  /** What the parser's offsets point into. */
  #bytes: Uint8Array = NO_BYTES
  #view: DataView = viewOf(NO_BYTES)

  constructor(cluster: Cluster, copies: Copies, watches: Watches) {
    this.#cluster = cluster
    this.#copies = copies
    this.#watches = watches
    this.#hash = placementHash(cluster.config.hash)
    this.#parser = new RequestParser({ maxBulkBytes: cluster.config.maxRequestBytes })
    this.#call = new Call(this.#reply, cluster.store.createKey(), cluster.random.fork())
  }

  open(id: number): void {
    this.#sessions.set(id, new Session(id, this.#cluster.config.acks === 'all'))
  }

  close(id: number): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    this.#sessions.delete(id)
    this.#forget(session)
    this.#watches.closeSession(id)
  }

  request(id: number, bytes: Uint8Array, now: number): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    if (session.input.length + bytes.length > this.#cluster.config.maxRequestBytes) {
      session.enqueue(asError('ERR Protocol error: too big request'), [])
      this.#settle(session)
      this.#cluster.outbox.hangUp(id)
      this.close(id)
      return
    }
    if (session.input.length > 0 || session.isBlocked) {
      session.input = concat(session.input, bytes)
      if (!session.isBlocked) this.#run(session, now)
      return
    }
    // The common case: what has come is parsed where it lies, and only what is left over is kept.
    session.input = bytes
    this.#run(session, now)
    if (session.input.length > 0) session.input = new Uint8Array(session.input)
  }

  /** A request that another node passed on. */
  forwarded(
    peer: Peer,
    message: { id: number; hops: number; acksAll: boolean; protocol: number; payload: Uint8Array },
    now: number
  ): void {
    const remote = { peer, id: message.id, hops: message.hops }
    const session = new Session(this.#nextRemote--, message.acksAll, remote)
    session.protocol = message.protocol === 3 ? 3 : 2
    session.input = message.payload
    this.#run(session, now)
  }

  /** The answer to a request that was passed on from here. */
  answered(id: number, payload: Uint8Array, now: number): void {
    const session = this.#forwards.get(id)
    if (session === undefined) return
    this.#forwards.delete(id)
    this.#resume(session, payload, now)
  }

  /** Acknowledgements came, or need not come any more. */
  acked(now: number): void {
    for (const session of [...this.#gated]) this.#settle(session)
    for (const session of [...this.#limbo]) {
      if (session.block?.kind === 'window') this.#retry(session, now)
    }
  }

  /** The rows of some buckets changed: whoever waits tries again. */
  rowsChanged(now: number): void {
    for (const session of [...this.#limbo]) this.#retry(session, now)
  }

  /**
   * Another node is primary of the bucket while writes wait for its backups here. Their acknowledgements, should they
   * come, mean nothing any more: nobody is told that these writes happened.
   */
  deposed(state: BucketState): void {
    const waits = (peer: Peer, frame: number): boolean => {
      const place = state.backups.indexOf(peer)
      return place >= 0 && frame <= state.lastFrames[place] && !peer.hasProcessed(frame)
    }
    for (const session of [...this.#gated]) {
      if (!session.waitsFor(waits)) continue
      const { remote } = session
      if (remote === undefined) this.#cluster.outbox.hangUp(session.id)
      else {
        const payload = asError('OC_UNKNOWN the primary changed; the write may have happened')
        this.#cluster.peers.send(
          remote.peer,
          { kind: 'answer', id: remote.id, payload },
          this.#cluster.now
        )
      }
      this.#sessions.delete(session.id)
      this.#forget(session)
      this.#watches.closeSession(session.id)
    }
  }

  /** The hand-over of a bucket has ended, one way or the other. */
  releaseHeld(state: BucketState, now: number): void {
    const waiting = state.waiting
    state.waiting = []
    for (const session of waiting) if (!session.closed) this.#retry(session, now)
  }

  /** Requests passed on to a node that is gone: reads go again, of writes nobody knows what became. */
  peerGone(peer: Peer, now: number): void {
    for (const [id, session] of [...this.#forwards]) {
      const block = session.block
      if (block?.kind !== 'forward' || block.peer !== peer) continue
      this.#forwards.delete(id)
      if (block.write) {
        this.#resume(
          session,
          asError('OC_UNKNOWN the primary died; the write may have happened'),
          now
        )
      } else this.#retry(session, now)
    }
  }

  tick(now: number): void {
    for (const session of [...this.#limbo]) {
      if (now - session.blockedSinceMs >= this.#cluster.config.holdMs) this.#timeOut(session, now)
      else this.#retry(session, now)
    }
    for (const [id, session] of [...this.#forwards]) {
      if (now - session.blockedSinceMs < this.#cluster.config.holdMs) continue
      this.#forwards.delete(id)
      this.#timeOut(session, now)
    }
  }

  get queuedBytes(): number {
    let bytes = 0
    for (const session of this.#sessions.values()) bytes += session.queuedBytes
    return bytes
  }

  /** Somebody waits for a primary or a backup, so that time alone may change something. */
  get waiting(): boolean {
    return this.#limbo.size > 0
  }

  #run(session: Session, now: number): void {
    const parser = this.#parser
    const reply = this.#reply
    parser.reset()
    reply.reset()
    reply.protocol = session.protocol
    this.#gates = []
    let at = 0
    while (at < session.input.length && session.block === undefined && !session.closed) {
      const bytes = session.input
      if (bytes !== this.#bytes) {
        this.#bytes = bytes
        this.#view = viewOf(bytes)
      }
      const after = parser.parse(bytes, this.#view, at, bytes.length)
      if (after === INCOMPLETE) break
      if (after === PROTOCOL_ERROR) {
        reply.error(parser.errorText)
        this.#put(session)
        this.#cluster.outbox.hangUp(session.id)
        this.close(session.id)
        return
      }
      if (parser.inline && parser.count > 0) {
        // Quotes were resolved in place: from here on it is a command like any other.
        session.input = concat(this.#plainForm(), bytes.subarray(after))
        at = 0
        continue
      }
      if (parser.count > 0 && !this.#execute(session, { from: at, to: after, now })) break
      at = after
      // A pipeline of large reads must not gather all its replies first.
      if (reply.length > REPLY_BYTES_MAX) {
        this.#put(session)
        this.#gates = []
      }
    }
    session.input = at === session.input.length ? NO_BYTES : session.input.subarray(at)
    this.#put(session)
  }

  /** Executes the parsed command; false if it waits. */
  #execute(session: Session, span: { from: number; to: number; now: number }): boolean {
    const parser = this.#parser
    const bytes = session.input
    const command = findCommand(bytes, parser.offsets[0], parser.lengths[0])
    if (command === undefined) {
      this.#local(session, span.now)
      return true
    }
    if (!hasArity(command, parser.count)) {
      checkArity(command, parser.count, this.#reply)
      return true
    }
    const place = command.key
    const hash = this.#hash.hash(bytes, parser.offsets[place], parser.lengths[place])
    const bucket = hash & this.#cluster.table.mask
    const state = this.#cluster.buckets[bucket]
    const write = command.flags.includes('write')
    if (state?.role !== 'primary') return this.#elsewhere(session, { bucket, write, ...span })
    if (state.holding) {
      if (this.#cluster.config.sabotage === 'refuse-during-hand-over') {
        this.#reply.error('TRYAGAIN the bucket is being handed over')
        return true
      }
      this.#block(session, { kind: 'bucket' }, span)
      state.waiting.push(session)
      return false
    }
    if (write && this.#copies.isCongested(state)) {
      this.#block(session, { kind: 'window' }, span)
      this.#limbo.add(session)
      return false
    }
    const call = this.#call
    call.key.set(bytes, this.#view, parser.offsets[place], parser.lengths[place], hash)
    call.bucket = state.items
    call.version = write ? this.#cluster.clock.next(span.now) : 0
    // A write's time is in its version, so that backups execute it at the very same moment.
    this.#point(call, bytes, write ? HybridClock.toMs(call.version) : span.now)
    if (!this.#perform(command)) return true
    if (call.change !== undefined) this.#written(session, state, span)
    else if (!state.isSettled()) this.#copies.gateRead(state, call.key, this.#gates)
    return true
  }

  /** Executes the command; a limit of the store is the client's to hear, and changes nothing. */
  #perform(command: Command): boolean {
    const before = this.#reply.length
    try {
      command.execute(this.#call)
      return true
    } catch (error) {
      if (!(error instanceof StoreLimitError)) throw error
      this.#reply.truncate(before)
      this.#reply.error(LIMIT_TEXTS[error.limit])
      return false
    }
  }

  #point(call: Call, bytes: Uint8Array, now: number): void {
    const parser = this.#parser
    call.begin()
    call.bytes = bytes
    call.view = this.#view
    call.offsets = parser.offsets
    call.lengths = parser.lengths
    call.count = parser.count
    call.now = now
  }

  #written(
    session: Session,
    state: BucketState,
    span: { from: number; to: number; now: number }
  ): void {
    const call = this.#call
    const raw =
      call.rewritten === undefined
        ? session.input.subarray(span.from, span.to)
        : encodeArguments(call.rewritten)
    this.#copies.replicate(state, call, raw)
    if (session.acksAll) this.#copies.gateWrite(state, this.#gates)
    if (this.#watches.any && call.change !== undefined) {
      this.#watches.notify(state, call.key, call.change)
    }
  }

  /** The bucket's primary is not here. */
  #elsewhere(
    session: Session,
    span: { bucket: number; write: boolean; from: number; to: number; now: number }
  ): boolean {
    const { table, peers, self } = this.#cluster
    const primary = table.primaryOf(span.bucket)
    const peer =
      primary === NOBODY || primary === self ? undefined : peers.get(table.nameOf(primary))
    const hops = (session.remote?.hops ?? 0) + 1
    if (peer === undefined || peer.dead || peer.stream.peerLife === 0 || hops > HOPS_MAX) {
      this.#block(session, { kind: 'limbo' }, span)
      this.#limbo.add(session)
      return false
    }
    const id = this.#nextForward++
    const payload = new Uint8Array(session.input.subarray(span.from, span.to))
    const { acksAll, protocol } = session
    peers.send(peer, { kind: 'forward', id, hops, acksAll, protocol, payload }, span.now)
    this.#block(session, { kind: 'forward', id, peer, write: span.write }, span)
    this.#forwards.set(id, session)
    return false
  }

  #block(session: Session, block: Block, span: { from: number; to: number; now: number }): void {
    if (session.blockedSinceMs === 0) session.blockedSinceMs = span.now
    session.block = block
    session.blockedLength = span.to - span.from
  }

  /** The blocked command is answered: on to the next. */
  #resume(session: Session, reply: Uint8Array, now: number): void {
    session.block = undefined
    session.blockedSinceMs = 0
    session.input = session.input.subarray(session.blockedLength)
    session.enqueue(reply, [])
    this.#settle(session)
    if (!session.closed) this.#run(session, now)
  }

  #retry(session: Session, now: number): void {
    this.#limbo.delete(session)
    session.block = undefined
    this.#run(session, now)
    if (!session.isBlocked) session.blockedSinceMs = 0
  }

  #timeOut(session: Session, now: number): void {
    this.#limbo.delete(session)
    this.#resume(session, asError('OC_TIMEOUT nobody could serve this in time'), now)
  }

  /** Sends the replies of this turn, or keeps them until their gates open. */
  #put(session: Session): void {
    const reply = this.#reply
    if (reply.length === 0) return
    const gates = this.#cluster.config.sabotage === 'reply-before-backup' ? [] : this.#gates
    const open = gates.every(({ peer, frame }) => peer.hasProcessed(frame))
    if (open && !session.waits) this.#deliver(session, reply.bytes.subarray(0, reply.length))
    else {
      session.enqueue(reply.bytes.slice(0, reply.length), gates)
      this.#gated.add(session)
    }
    reply.reset()
  }

  #settle(session: Session): void {
    session.release((bytes) => {
      this.#deliver(session, bytes)
    })
    if (session.waits) this.#gated.add(session)
    else this.#gated.delete(session)
  }

  #deliver(session: Session, bytes: Uint8Array): void {
    if (session.closed) return
    const { remote } = session
    if (remote === undefined) {
      this.#cluster.outbox.output(session.id, bytes)
      return
    }
    const now = this.#cluster.now
    this.#cluster.peers.send(
      remote.peer,
      { kind: 'answer', id: remote.id, payload: bytes.slice() },
      now
    )
    this.#forget(session)
  }

  #forget(session: Session): void {
    session.closed = true
    this.#gated.delete(session)
    this.#limbo.delete(session)
    if (session.block?.kind === 'forward') this.#forwards.delete(session.block.id)
  }

  /** Commands about the conversation, not about a key. */
  #local(session: Session, now: number): void {
    const reply = this.#reply
    const words = this.#words()
    const name = words[0].toLowerCase()
    if (name === 'ping') {
      if (words.length > 1) reply.bulkString(words[1])
      else reply.pong()
    } else if (name === 'oc.acks' && (words[1] === 'all' || words[1] === 'primary')) {
      session.acksAll = words[1] === 'all'
      reply.ok()
    } else if (name === 'oc.watch' && words.length === 3 && session.remote === undefined) {
      const watch = { session: session.id, client: words[1], pattern: words[2] }
      if (this.#watches.add(watch, now)) reply.ok()
      else reply.error(`ERR no more than ${WATCHES_MAX} watches a node`)
    } else {
      const beginning = words.slice(1, 4).map((word) => `'${word.slice(0, 128)}' `)
      reply.error(
        `ERR unknown command '${words[0].slice(0, 128)}', with args beginning with: ${beginning.join('')}`
      )
    }
  }

  #words(): string[] {
    const { offsets, lengths, count } = this.#parser
    const words: string[] = []
    for (let place = 0; place < Math.min(count, WORDS_MAX); place++) {
      words.push(latin1String(this.#bytes, offsets[place], lengths[place]))
    }
    return words
  }

  #plainForm(): Uint8Array {
    const { offsets, lengths, count } = this.#parser
    const words: Uint8Array[] = []
    for (let place = 0; place < count; place++) {
      words.push(this.#bytes.subarray(offsets[place], offsets[place] + lengths[place]))
    }
    return encodeArguments(words)
  }
}

function asError(text: string): Uint8Array {
  return latin1Bytes(`-${text}\r\n`)
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
