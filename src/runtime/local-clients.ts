/**
 * Clients inside the process, for the doors that are not the Redis protocol: each has a session of the node like any
 * connection, so its commands are routed, forwarded, held and replicated by the same code. Replies come in the order
 * of the commands.
 */
import { utf8Bytes } from '../core/bytes.js'
import { ReplyParser } from '../wire/resp/reply-parser.js'
import type { ReplyValue } from '../wire/resp/reply-value.js'
import { encodeArguments } from '../wire/resp/request-writer.js'

/** Sessions of connections are numbered from 1 and never come here. */
export const FIRST_LOCAL_SESSION = 2 ** 40

export interface LocalPort {
  open(session: number): void
  request(session: number, bytes: Uint8Array): void
  close(session: number): void
}

export interface LocalClient {
  /** A reply that is an error is a `RespError`; rejects only when the node has hung up. */
  call(...words: readonly (string | Uint8Array)[]): Promise<ReplyValue>
  close(): void
}

interface Waiter {
  resolve(value: ReplyValue): void
  reject(error: Error): void
}

class Local implements LocalClient {
  readonly session: number
  readonly #port: LocalPort
  readonly #waiters: Waiter[] = []
  readonly #parser = new ReplyParser({
    payload: 'bytes',
    onReply: (value) => this.#waiters.shift()?.resolve(value),
    onPush: () => undefined
  })
  readonly #onClose: () => void
  closed = false

  constructor(session: number, port: LocalPort, onClose: () => void) {
    this.session = session
    this.#port = port
    this.#onClose = onClose
    port.open(session)
  }

  call(...words: readonly (string | Uint8Array)[]): Promise<ReplyValue> {
    if (this.closed) return Promise.reject(new Error('the node has hung up'))
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
      const bytes = words.map((word) => (typeof word === 'string' ? utf8Bytes(word) : word))
      this.#port.request(this.session, encodeArguments(bytes))
    })
  }

  output(bytes: Uint8Array): void {
    this.#parser.push(bytes)
  }

  /** The node ends the conversation. */
  hangUp(): void {
    if (this.closed) return
    this.closed = true
    this.#onClose()
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new Error('the node has hung up'))
  }

  close(): void {
    if (this.closed) return
    this.hangUp()
    this.#port.close(this.session)
  }
}

export class LocalClients {
  readonly #port: LocalPort
  readonly #clients = new Map<number, Local>()
  #next = FIRST_LOCAL_SESSION

  constructor(port: LocalPort) {
    this.#port = port
  }

  open(): LocalClient {
    const session = this.#next++
    const client = new Local(session, this.#port, () => this.#clients.delete(session))
    this.#clients.set(session, client)
    return client
  }

  /** The bytes are valid during the call only; the parser copies what it keeps. */
  output(session: number, bytes: Uint8Array): void {
    this.#clients.get(session)?.output(bytes)
  }

  hangUp(session: number): void {
    this.#clients.get(session)?.hangUp()
  }

  closeAll(): void {
    for (const client of [...this.#clients.values()]) client.hangUp()
  }
}
