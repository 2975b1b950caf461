/**
 * One connection to one node. Commands given in one turn go out in one write: they are gathered in one buffer, and the
 * buffer is written by `process.nextTick`, which runs when all promise callbacks of the turn have. A further write waits until
 * the socket has taken the one before, so that what is still gathered here has certainly not been seen by any
 * node and can be sent elsewhere. Replies come in the order of commands; pushes come in between.
 *
 * A connection does not reconnect or retry by itself: it says what was lost, and the router decides.
 */
import { connect, type Socket } from 'node:net'
import { ReplyParser } from '../wire/resp/reply-parser.js'
import { RespError, type ReplyValue } from '../wire/resp/reply-value.js'
import { utf8Bytes } from '../core/bytes.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import { parseTarget } from './address.js'
import type { Call } from './call.js'
import { CallQueue } from './call-queue.js'
import { RequestBuffer } from './request-buffer.js'

export interface Loss {
  /** May have been executed. */
  readonly sent: Call[]
  /** Have certainly not been executed. */
  readonly unsent: Call[]
  readonly reason: string
}

export interface ConnectionHandlers {
  ready(connection: NodeConnection): void
  answered(connection: NodeConnection, call: Call, reply: ReplyValue): void
  pushed(connection: NodeConnection, items: ReplyValue[]): void
  lost(connection: NodeConnection, loss: Loss): void
}

export interface ConnectionOptions {
  readonly acks: 'all' | 'primary' | undefined
  readonly maxUnsentBytes: number
}

const READ_BYTES = 64 * 1024
const KEEP_ALIVE_MS = 10_000
const BACK_OFF_MS_MIN = 50
const BACK_OFF_MS_MAX = 5000
/** All connections of this process read into one buffer: what is read is parsed before the next read. */
const shared = new Uint8Array(READ_BYTES)

export class NodeConnection {
  readonly address: string
  state: 'closed' | 'connecting' | 'ready' = 'closed'
  /** Attempts that failed since it was last ready. */
  failures = 0
  retryAtMs = 0
  /** When it became ready, or began to connect. */
  sinceMs = 0
  /** When something was last heard of it, or it was first asked for something after it had answered all. */
  heardMs = 0
  /** It does not answer, although it is connected: others are asked until it does. */
  silent = false
  readonly #handlers: ConnectionHandlers
  readonly #options: ConnectionOptions
  readonly #queue = new CallQueue()
  readonly #out = new RequestBuffer()
  #socket: Socket | undefined
  /** How many at the head of the queue have been given to the socket. */
  #sent = 0
  #greetings = 0
  #scheduled = false
  #writing = false
  #reason = ''

  constructor(address: string, handlers: ConnectionHandlers, options: ConnectionOptions) {
    this.address = address
    this.#handlers = handlers
    this.#options = options
  }

  /** Takes new commands: it answers, or has not been tried yet. */
  get usable(): boolean {
    return this.state === 'ready'
      ? !this.silent
      : this.state === 'connecting' && this.failures === 0
  }

  get pending(): number {
    return this.#queue.length
  }

  /** Waits for replies to commands that the node may have seen. */
  get awaiting(): boolean {
    return this.#sent > 0
  }

  open(now: number): void {
    const target = parseTarget(this.address)
    if (this.state !== 'closed' || target === undefined) return
    this.state = 'connecting'
    this.sinceMs = now
    this.#reason = ''
    const parser = new ReplyParser({
      payload: 'bytes',
      onReply: (value) => {
        if (this.#socket === socket) this.#onReply(value)
      },
      onPush: (items) => {
        if (this.#socket === socket) this.#handlers.pushed(this, items)
      }
    })
    const socket: Socket = connect({
      ...target,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      onread: {
        buffer: shared,
        callback: (length) => {
          if (this.#socket === socket) this.#read(parser, length)
          return true
        }
      }
    })
    this.#socket = socket
    socket.on('connect', () => this.#greet(socket))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#reason ||= error.code ?? error.message
    })
    socket.on('close', () => {
      if (this.#socket === socket) this.#lose(this.#reason || 'the connection was closed')
    })
  }

  /** Gives a command that is encoded already. False if too much waits here. */
  send(call: Call, request: RequestBuffer): boolean {
    const out = this.#out
    if (out.length > 0 && out.length + request.length > this.#options.maxUnsentBytes) return false
    out.slice(request.bytes, request.view, 0, request.length)
    this.#queue.push(call)
    if (!this.#scheduled && !this.#writing && this.state === 'ready') {
      this.#scheduled = true
      process.nextTick(this.#flush)
    }
    return true
  }

  /** Takes back what has certainly not been sent. */
  takeUnsent(): Call[] {
    this.#out.reset()
    return this.#queue.takeFrom(this.#sent)
  }

  /** Sees every call that has been sent and not been answered. */
  eachSent(see: (call: Call) => void): void {
    for (let place = 0; place < this.#sent; place++) {
      const call = this.#queue.at(place)
      if (call !== undefined && !call.settled) see(call)
    }
  }

  someUnsent(test: (call: Call) => boolean): boolean {
    for (let place = this.#sent; place < this.#queue.length; place++) {
      const call = this.#queue.at(place)
      if (call !== undefined && test(call)) return true
    }
    return false
  }

  /** Gives it up; what was under way is lost. */
  close(reason: string): void {
    if (this.state !== 'closed') this.#lose(reason)
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    const socket = this.#socket
    const out = this.#out
    if (this.state !== 'ready' || this.#writing || out.length === 0 || socket === undefined) return
    if (this.#sent === 0) this.heardMs = performance.now()
    this.#sent = this.#queue.length
    socket.write(out.bytes.subarray(0, out.length), this.#written)
    // The memory is free again only if the socket took all of it at once.
    if (socket.writableLength === 0) out.reset()
    else {
      this.#writing = true
      out.renew(Math.min(out.length, READ_BYTES))
    }
  }

  readonly #written = (): void => {
    if (!this.#writing || this.#socket?.writableLength !== 0) return
    this.#writing = false
    this.#flush()
  }

  #greet(socket: Socket): void {
    const { acks } = this.#options
    const words = [['HELLO', '3']]
    if (acks !== undefined) words.push(['OC.ACKS', acks])
    this.#greetings = words.length
    for (const greeting of words) socket.write(encodeArguments(greeting.map(utf8Bytes)))
  }

  #read(parser: ReplyParser, length: number): void {
    this.heardMs = performance.now()
    try {
      parser.push(shared.subarray(0, length))
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error))
    }
  }

  #onReply(value: ReplyValue): void {
    if (this.state === 'ready') {
      const call = this.#queue.shift()
      if (call === undefined || this.#sent === 0) {
        this.#lose('a reply nobody asked for')
        return
      }
      this.#sent--
      this.silent = false
      this.#handlers.answered(this, call, value)
    } else if (this.state === 'connecting') this.#onGreeting(value)
  }

  /** A node that does not know HELLO speaks RESP2, which is as good. */
  #onGreeting(value: ReplyValue): void {
    if (value instanceof RespError && !/^(?:ERR unknown command|NOPROTO)/.test(value.text)) {
      this.#lose(value.text)
      return
    }
    if (--this.#greetings > 0) return
    this.state = 'ready'
    this.failures = 0
    this.silent = false
    this.sinceMs = this.heardMs = performance.now()
    this.#handlers.ready(this)
    this.#flush()
  }

  #lose(reason: string): void {
    const socket = this.#socket
    this.#socket = undefined
    this.state = 'closed'
    this.silent = false
    this.#writing = false
    this.failures++
    const backOffMs = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS_MIN * 2 ** (this.failures - 1))
    // Clients that lost the same node must not all come back in the same moment.
    this.retryAtMs = performance.now() + backOffMs * (0.5 + Math.random() / 2)
    const unsent = this.takeUnsent()
    const sent = this.#queue.takeFrom(0)
    this.#sent = 0
    socket?.destroy()
    this.#handlers.lost(this, { sent, unsent, reason })
  }
}
