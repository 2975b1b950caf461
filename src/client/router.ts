/**
 * Brings each command to a node that can answer it, and its reply back. The table says where a key's primary is. While
 * that node cannot be reached or does not answer, the backup is asked, then anybody: every node forwards what it
 * does not hold itself, and holds what nobody can serve for the moment. What can be sent to nobody waits here.
 *
 * What is done when an answer fails to come depends on what is known. Not sent: it goes elsewhere. Sent, and may be sent
 * twice: likewise, and a late answer is dropped. Sent, and must not be: its caller is told OC_UNKNOWN when the connection
 * is gone or the time is up, because nobody here can know.
 *
 * There is no timer per command. One sweep sees to deadlines, silence, reconnecting and whatever waits.
 */
import { NOBODY } from '../core/ids.js'
import { OpenClusterError } from '../errors.js'
import { RespError, type ReplyValue } from '../wire/resp/reply-value.js'
import { parseTarget } from './address.js'
import type { Argument } from './argument.js'
import { createCall, type Call, type Decode } from './call.js'
import { CallQueue } from './call-queue.js'
import { ANYWHERE, type CommandKind } from './command-kind.js'
import { busyError, closedError, timeoutError, unknownError } from './failure.js'
import { NodeConnection, type Loss } from './node-connection.js'
import type { Settings } from './options.js'
import { asItself, ReplyError } from './reply.js'
import { RequestBuffer } from './request-buffer.js'
import { Topology } from './topology.js'

export interface RouterHandlers {
  ready(connection: NodeConnection): void
  lost(connection: NodeConnection): void
  pushed(connection: NodeConnection, items: ReplyValue[]): void
  sweep(): void
}

const REDIRECTS_MAX = 16
const COPIES_MAX = 4
const SWEEP_MS_MAX = 100
/** How long a command waits after a node said that it cannot serve it for the moment. */
const AGAIN_MS = 50
/** Backups asked about one silent node. */
const WITNESSES_MAX = 8
const BAD_TIMES = new Set(['TRYAGAIN', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN'])

export class Router {
  readonly topology = new Topology()
  readonly #settings: Settings
  readonly #seeds: readonly string[]
  readonly #handlers: RouterHandlers
  readonly #pool = new Map<string, NodeConnection>()
  /** The same by the table's number of a node, so that a command costs no look-up of an address. */
  #byNode: (NodeConnection | undefined)[] = []
  /** Where a node said that a bucket is, until the table says it too. */
  readonly #hints = new Map<number, string>()
  readonly #request = new RequestBuffer()
  readonly #limbo = new CallQueue()
  readonly #sweeper: NodeJS.Timeout
  #open = 0
  #closing = false
  #idle: (() => void) | undefined
  /** Why the last connection was lost, for messages. */
  #trouble = ''

  constructor(seeds: readonly string[], settings: Settings, handlers: RouterHandlers) {
    this.#seeds = seeds
    this.#settings = settings
    this.#handlers = handlers
    const sweepMs = Math.min(SWEEP_MS_MAX, settings.answerMs / 4)
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs)
  }

  get connections(): Iterable<NodeConnection> {
    return this.#pool.values()
  }

  /** Commands that wait for their replies. */
  get pending(): number {
    return this.#open
  }

  get trouble(): string {
    return this.#trouble
  }

  /** Tries to reach every address that was given, or that the table names. */
  openAll(): void {
    for (const address of [...this.#seeds, ...this.topology.addresses]) this.connectionTo(address)
  }

  run<T>(
    args: readonly Argument[],
    kind: CommandKind,
    decode: Decode<T>,
    settings: Settings = this.#settings
  ): Promise<T> {
    if (this.#closing) return Promise.reject(closedError())
    if (this.#open >= this.#settings.maxPending) return Promise.reject(busyError())
    const deadlineMs = performance.now() + settings.timeoutMs
    const repeats = settings.repeatWrites
    const { call, promise } = createCall<T>({ args, kind, decode, deadlineMs, repeats })
    this.#open++
    try {
      this.#dispatch(call)
    } catch (error) {
      this.#fail(call, error instanceof Error ? error : new Error(String(error)))
    }
    return promise
  }

  /** For this connection and no other. */
  runAt(connection: NodeConnection, args: readonly Argument[]): Promise<ReplyValue> {
    const deadlineMs = performance.now() + this.#settings.timeoutMs
    const options = { args, kind: ANYWHERE, decode: asItself, deadlineMs, repeats: false }
    const { call, promise } = createCall<ReplyValue>(options)
    call.pinned = true
    this.#open++
    this.#request.encode(args, -1)
    if (connection.state !== 'ready' || !connection.send(call, this.#request)) {
      this.#fail(call, busyError())
    }
    return promise
  }

  /** The primary's address of a key, for grouping; undefined while nothing is known. */
  placeOf(key: Argument): string | undefined {
    this.#request.encode([key], 0)
    const { bytes, keyOffset, keyLength } = this.#request
    const bucket = this.topology.bucketOf(bytes, keyOffset, keyLength)
    return bucket < 0 ? undefined : this.topology.addressOf(this.topology.holderAt(bucket, 0))
  }

  learn(items: readonly ReplyValue[]): void {
    const before = this.topology.cluster
    const changed = this.topology.learn(items)
    if (before !== this.topology.cluster) this.#hints.clear()
    for (const bucket of changed) this.#hints.delete(bucket)
    // Addresses may have changed with the rows.
    if (changed.length > 0) this.#byNode = []
    this.#leaveLimbo()
  }

  /** The connection to a node, opened if it is time to. */
  connectionTo(address: string): NodeConnection | undefined {
    let connection = this.#pool.get(address)
    if (connection === undefined) {
      if (parseTarget(address) === undefined) return undefined
      connection = new NodeConnection(address, this.#connectionHandlers, this.#settings)
      this.#pool.set(address, connection)
    }
    if (connection.state === 'closed' && !this.#isOver()) {
      const now = performance.now()
      if (now >= connection.retryAtMs) connection.open(now)
    }
    return connection
  }

  /** Waits for what is under way, and closes everything. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    clearInterval(this.#sweeper)
    for (const connection of this.#pool.values()) connection.close('the client was closed')
  }

  #isOver(): boolean {
    return this.#closing && this.#open === 0
  }

  readonly #connectionHandlers = {
    ready: (connection: NodeConnection): void => {
      this.#handlers.ready(connection)
      this.#leaveLimbo()
    },
    answered: (connection: NodeConnection, call: Call, reply: ReplyValue): void => {
      if (call.settled) return
      if (reply instanceof RespError) this.#onError(connection, call, reply)
      else this.#succeed(call, reply)
    },
    pushed: (connection: NodeConnection, items: ReplyValue[]): void => {
      try {
        this.#handlers.pushed(connection, items)
      } catch (error) {
        connection.close(error instanceof Error ? error.message : String(error))
      }
    },
    lost: (connection: NodeConnection, loss: Loss): void => this.#onLoss(connection, loss)
  }

  #dispatch(call: Call): void {
    const request = this.#request
    const { topology } = this
    request.encode(call.args, call.kind.key)
    call.bucket =
      request.keyLength > 0 || call.kind.key >= 0
        ? topology.bucketOf(request.bytes, request.keyOffset, request.keyLength)
        : -1
    const connection = this.#choose(call.bucket)
    if (connection === undefined) this.#limbo.push(call)
    else if (!connection.send(call, request)) this.#fail(call, busyError())
  }

  #choose(bucket: number): NodeConnection | undefined {
    if (bucket >= 0) {
      if (this.#hints.size > 0) {
        const hinted = this.#hints.get(bucket)
        const connection = hinted === undefined ? undefined : this.connectionTo(hinted)
        if (connection?.usable === true) return connection
      }
      for (let place = 0; place < COPIES_MAX; place++) {
        const node = this.topology.holderAt(bucket, place)
        if (node === NOBODY) continue
        const connection = this.#connectionOf(node)
        if (connection?.usable === true) return connection
      }
    }
    return this.#chooseAny()
  }

  #connectionOf(node: number): NodeConnection | undefined {
    const known = this.#byNode[node]
    if (known !== undefined && known.state !== 'closed') return known
    const address = this.topology.addressOf(node)
    const connection = address === undefined ? undefined : this.connectionTo(address)
    this.#byNode[node] = connection
    return connection
  }

  #chooseAny(): NodeConnection | undefined {
    let connecting: NodeConnection | undefined
    for (const connection of this.#pool.values()) {
      if (!connection.usable) continue
      if (connection.state === 'ready') return connection
      connecting = connection
    }
    if (connecting !== undefined) return connecting
    this.openAll()
    for (const connection of this.#pool.values()) if (connection.usable) return connection
    return undefined
  }

  /** Whoever waits may try again; those who still cannot go back. */
  #leaveLimbo(): void {
    const now = performance.now()
    for (let count = this.#limbo.length; count > 0; count--) {
      const call = this.#limbo.shift()
      if (call === undefined || call.settled) continue
      if (call.notBeforeMs > now) this.#limbo.push(call)
      else this.#dispatch(call)
    }
  }

  #succeed(call: Call, reply: ReplyValue): void {
    try {
      const value = call.decode(reply)
      this.#finish(call)
      call.resolve(value)
    } catch (error) {
      this.#fail(call, error instanceof Error ? error : new Error(String(error)))
    }
  }

  #fail(call: Call, error: Error): void {
    this.#finish(call)
    call.reject(error)
  }

  #finish(call: Call): void {
    call.settled = true
    if (--this.#open === 0) this.#idle?.()
  }

  #onError(connection: NodeConnection, call: Call, error: RespError): void {
    const { code } = error
    if (call.pinned) this.#fail(call, new ReplyError(error))
    else if (code === 'MOVED') this.#redirect(call, error)
    else if (BAD_TIMES.has(code)) {
      call.notBeforeMs = performance.now() + AGAIN_MS
      this.#limbo.push(call)
    } else if (code === 'OC_UNKNOWN' && call.mayRepeat) this.#dispatch(call)
    else if (code === 'OC_UNKNOWN' || code === 'OC_TIMEOUT') {
      const reason = error.text.slice(code.length + 1)
      this.#fail(call, new OpenClusterError(code, `${reason} (${connection.address})`))
    } else this.#fail(call, new ReplyError(error))
  }

  /** The node did not execute it, and says who will: `MOVED slot address`. */
  #redirect(call: Call, error: RespError): void {
    const address = error.text.split(' ')[2] ?? ''
    if (++call.redirects > REDIRECTS_MAX || parseTarget(address) === undefined) {
      this.#fail(call, new ReplyError(error))
      return
    }
    if (call.bucket >= 0) this.#hints.set(call.bucket, address)
    const connection = this.connectionTo(address)
    this.#request.encode(call.args, call.kind.key)
    if (connection?.usable !== true) this.#limbo.push(call)
    else if (!connection.send(call, this.#request)) this.#fail(call, busyError())
  }

  #onLoss(connection: NodeConnection, { sent, unsent, reason }: Loss): void {
    this.#trouble = `${connection.address}: ${reason}`
    this.#handlers.lost(connection)
    for (const call of [...sent, ...unsent]) {
      if (call.settled) continue
      if (this.#closing && reason === 'the client was closed') this.#fail(call, closedError())
      else if (call.pinned) this.#fail(call, new OpenClusterError('OC_TIMEOUT', this.#trouble))
    }
    for (const call of sent) {
      if (call.settled) continue
      if (call.mayRepeat) this.#dispatch(call)
      else this.#fail(call, unknownError(this.#trouble))
    }
    for (const call of unsent) if (!call.settled) this.#dispatch(call)
    this.#leaveLimbo()
  }

  #sweep(): void {
    const now = performance.now()
    for (const connection of [...this.#pool.values()]) this.#look(connection, now)
    for (let count = this.#limbo.length; count > 0; count--) {
      const call = this.#limbo.shift()
      if (call === undefined || call.settled) continue
      if (now >= call.deadlineMs) this.#fail(call, timeoutError(this.#trouble))
      else this.#limbo.push(call)
    }
    this.#leaveLimbo()
    this.#handlers.sweep()
    this.#keepConnected()
  }

  #look(connection: NodeConnection, now: number): void {
    const { connectMs, answerMs, timeoutMs } = this.#settings
    if (connection.state === 'connecting') {
      if (now - connection.sinceMs > connectMs) connection.close('it does not answer')
    }
    if (connection.state !== 'ready') {
      this.#expireUnsent(connection, now)
      return
    }
    connection.eachSent((call) => {
      if (now < call.deadlineMs) return
      const reason = `${connection.address} did not answer in time`
      this.#fail(call, call.mayRepeat ? timeoutError(reason) : unknownError(reason))
    })
    this.#expireUnsent(connection, now)
    const quietMs = connection.awaiting ? now - connection.heardMs : 0
    if (quietMs > Math.max(timeoutMs, answerMs * 2)) connection.close('it does not answer')
    else if (quietMs > answerMs && !connection.silent) this.#suspect(connection)
  }

  /** What waits for the socket and is out of time must not be executed later. */
  #expireUnsent(connection: NodeConnection, now: number): void {
    if (!connection.someUnsent((call) => call.settled || now >= call.deadlineMs)) return
    for (const call of connection.takeUnsent()) {
      if (call.settled) continue
      if (now >= call.deadlineMs) this.#fail(call, timeoutError(connection.address))
      else if (call.pinned) this.#fail(call, busyError())
      else this.#dispatch(call)
    }
  }

  /** A node owes answers for too long: others are asked, and told of it. */
  #suspect(connection: NodeConnection): void {
    const others = (): boolean =>
      [...this.#pool.values()].some((other) => other !== connection && other.usable)
    if (!others()) this.openAll()
    // With nobody else to ask there is nothing but to wait.
    if (!others()) return
    connection.silent = true
    const again: Call[] = []
    const buckets = new Set<number>()
    connection.eachSent((call) => {
      if (call.bucket >= 0) buckets.add(call.bucket)
      if (call.mayRepeat && !call.pinned) again.push(call)
    })
    const unsent = connection.takeUnsent()
    this.#askWitnesses(connection, buckets)
    for (const call of again) this.#dispatch(call.again())
    for (const call of unsent) {
      if (call.settled) continue
      if (call.pinned) this.#fail(call, busyError())
      else this.#dispatch(call)
    }
  }

  /**
   * `OC.WITNESS bucket epoch` tells a backup that its primary does not answer clients either: a backup that has not heard
   * of it itself has its second witness. What it replies changes nothing here: the rows it makes do.
   */
  #askWitnesses(silent: NodeConnection, buckets: ReadonlySet<number>): void {
    const asked = new Set<NodeConnection>()
    for (const bucket of buckets) {
      for (let place = 0; place < COPIES_MAX && asked.size < WITNESSES_MAX; place++) {
        const node = this.topology.holderAt(bucket, place)
        const backup = node === NOBODY ? undefined : this.#connectionOf(node)
        if (backup === undefined || backup === silent || asked.has(backup)) continue
        if (backup.state !== 'ready' || backup.silent) continue
        asked.add(backup)
        const words = ['OC.WITNESS', bucket, this.topology.epochOf(bucket)]
        this.runAt(backup, words).catch(() => undefined)
      }
    }
  }

  /** Nodes of the table are kept connected; others are let go when nothing is under way there. */
  #keepConnected(): void {
    if (!this.topology.known) {
      if (![...this.#pool.values()].some(({ usable }) => usable)) this.openAll()
      return
    }
    const holders = this.topology.holders
    for (const address of holders) this.connectionTo(address)
    for (const connection of [...this.#pool.values()]) {
      const { address, pending } = connection
      if (holders.has(address) || pending > 0 || this.#hints.size > 0) continue
      // While no node of the table can be reached, the addresses that were given are all there is.
      if (![...this.#pool.values()].some((other) => holders.has(other.address) && other.usable)) {
        if (connection.state === 'closed') this.connectionTo(address)
        continue
      }
      this.#pool.delete(address)
      connection.close('not needed any more')
    }
  }
}
