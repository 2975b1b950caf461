/** A plain connection to one node, for whoever asks nodes about themselves: a command, its reply, in order. */
import { connect, type Socket } from 'node:net'
import { parseAddress } from '../config/address.js'
import { utf8Bytes } from '../core/bytes.js'
import { ReplyParser } from '../wire/resp/reply-parser.js'
import { RespError, type ReplyValue } from '../wire/resp/reply-value.js'
import { encodeArguments } from '../wire/resp/request-writer.js'

const CONNECT_MS_MAX = 5000

interface Waiter {
  resolve(value: ReplyValue): void
  reject(error: Error): void
}

export class RespConnection {
  readonly address: string
  readonly #socket: Socket
  readonly #waiters: Waiter[] = []
  /** Called with what the node says without being asked. */
  onPush: ((items: ReplyValue[]) => void) | undefined
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>
  #failure: Error | undefined

  private constructor(address: string, socket: Socket) {
    this.address = address
    this.#socket = socket
    const parser = new ReplyParser({
      onReply: (value) => this.#waiters.shift()?.resolve(value),
      onPush: (items) => this.onPush?.(items)
    })
    socket.on('data', (bytes) => {
      try {
        parser.push(bytes)
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined)
      }
    })
    socket.on('error', (error) => (this.#failure = new Error(`${address}: ${error.message}`)))
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('close', () => {
      const failure = (this.#failure ??= new Error(`${address}: the connection was closed`))
      for (const waiter of this.#waiters.splice(0)) waiter.reject(failure)
    })
  }

  static open(address: string, timeoutMs = CONNECT_MS_MAX): Promise<RespConnection> {
    const target = parseAddress(address)
    if (target === undefined) throw new RangeError(`not an address: ${address}`)
    return new Promise((resolve, reject) => {
      const socket = connect({ ...target, noDelay: true })
      const fail = (reason: string): void => {
        socket.destroy()
        reject(new Error(`cannot reach a node at ${address}: ${reason}`))
      }
      const onError = (error: NodeJS.ErrnoException): void => fail(error.code ?? error.message)
      socket.once('error', onError)
      socket.setTimeout(timeoutMs, () => fail('it does not answer'))
      socket.once('connect', () => {
        socket.removeListener('error', onError)
        socket.removeAllListeners('timeout')
        socket.setTimeout(0)
        resolve(new RespConnection(address, socket))
      })
    })
  }

  /** An error reply rejects. */
  async call(...words: string[]): Promise<ReplyValue> {
    const reply = await new Promise<ReplyValue>((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure)
        return
      }
      this.#waiters.push({ resolve, reject })
      this.#socket.write(encodeArguments(words.map(utf8Bytes)))
    })
    if (reply instanceof RespError) throw new Error(reply.text)
    return reply
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Opens, lets `act` talk, and closes again. */
export async function withConnection<T>(
  address: string,
  act: (connection: RespConnection) => Promise<T>
): Promise<T> {
  const connection = await RespConnection.open(address)
  try {
    return await act(connection)
  } finally {
    connection.close()
  }
}
