/**
 * The one port, for clients and nodes. All connections read into one shared buffer (`onread`): an accepted
 * socket is wrapped once around its handle, because Node offers that way of reading only to sockets one
 * makes oneself; where the handle is not to be had, ordinary 'data' events do the same more slowly (0.72
 * instead of 0.84 of Redis at one command a round trip). Replies are gathered for the turn (turn-output).
 *
 * Limits: connections; a client that does not read its replies is not read from either, and is dropped when it
 * still owes too much; whoever is to be closed gets a moment to read why.
 */
import { createServer, Socket, type Server } from 'node:net'
import { formatAddress } from '../config/address.js'
import { latin1Bytes, NO_BYTES } from '../core/bytes.js'
import { AdminConversation, type AdminOptions } from './admin.js'
import type { Origin } from '../node/door/client-state.js'
import type { Clock } from './clock.js'
import { recognise } from './first-bytes.js'
import { FrameReader } from './frames.js'
import type { Log } from './log.js'
import { Outgoing, TurnOutput } from './turn-output.js'

export interface TcpHandlers {
  open(session: number, origin: Origin): void
  request(session: number, bytes: Uint8Array): void
  close(session: number): void
  receive(envelope: Uint8Array): void
  /** Part of something large has come from that node. */
  hearing(peer: string): void
  /** There is something to write although the node was told nothing. */
  wake(): void
}

export interface TcpOptions {
  readonly maxConnections: number
  readonly clock: Clock
  readonly log: Log
  readonly handlers: TcpHandlers
  readonly admin: AdminOptions
}

const READ_BYTES = 64 * 1024
/** Replies that wait for a client to read them: it is not read from, and beyond the second it is dropped. */
const UNREAD_BYTES_PAUSE = 1024 * 1024
const UNREAD_BYTES_MAX = 64 * 1024 * 1024
/** Connections beyond the clients' limit that other nodes can still make. */
const RESERVED_CONNECTIONS = 256
/** A reserved connection that says nothing, and a handshake that does not go on. */
const UNDECIDED_MS_MAX = 5000
/** How long someone who is hung up on may take to read why. */
const CLOSING_MS_MAX = 1000
/** A link's caller hears that it is heard, at most this often. */
const HEARD_MS = 200
const HEARD = Uint8Array.of(0x2e)
const BACKLOG = 511

const WRONG_DOOR = {
  http: `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nThis port speaks the Redis protocol, not HTTP.\n`,
  tls: `-ERR this port does not speak TLS\r\n`
} as const

class Connection extends Outgoing {
  readonly id: number
  /** Beyond the clients' limit: only a node may stay. */
  readonly reserved: boolean
  /** By the port at which backups answer: only clients may come. */
  readonly asReplica: boolean
  state: 'new' | 'client' | 'admin' | 'link' | 'closing' = 'new'
  /** When it came into its state. */
  sinceMs: number
  first: Uint8Array = NO_BYTES
  conversation: AdminConversation | undefined
  frames: FrameReader | undefined
  /** The node at the other end of a link. */
  peer = ''
  heardMs = 0
  /** It does not read its replies. */
  unread = false
  /** The node cannot execute what it sends as fast as it sends it. */
  ahead = false

  constructor(
    id: number,
    socket: Socket,
    options: { now: number; reserved: boolean; asReplica: boolean }
  ) {
    super(socket)
    this.id = id
    this.sinceMs = options.now
    this.reserved = options.reserved
    this.asReplica = options.asReplica
  }

  get from(): string {
    const { remoteAddress = 'unknown', remotePort = 0 } = this.socket
    return formatAddress({ host: remoteAddress, port: remotePort })
  }

  get origin(): Origin {
    const { localAddress = 'unknown', localPort = 0 } = this.socket
    const to = formatAddress({ host: localAddress, port: localPort })
    return { from: this.from, to, asReplica: this.asReplica }
  }
}

export class TcpServer {
  readonly #options: TcpOptions
  readonly #server: Server
  /** At which backups answer, if they do. */
  #replicaServer: Server | undefined
  readonly #connections = new Map<number, Connection>()
  readonly #output = new TurnOutput((outgoing) => this.#written(outgoing as Connection))
  /** Not a `Buffer`, whose `slice` would give the node a view where it asks for a copy. */
  readonly #shared = new Uint8Array(READ_BYTES)
  #nextId = 1

  constructor(options: TcpOptions) {
    this.#options = options
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (raw) =>
      this.#accept(raw, false)
    )
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    return this.#listen(this.#server, host, port)
  }

  /** The same for the port at which backups answer. */
  listenForReplica(host: string, port: number): Promise<number> {
    const accept = (raw: Socket): void => this.#accept(raw, true)
    this.#replicaServer = createServer({ noDelay: true, pauseOnConnect: true }, accept)
    return this.#listen(this.#replicaServer, host, port)
  }

  #listen(server: Server, host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, backlog: BACKLOG }, () => {
        server.removeListener('error', reject)
        server.on('error', (error) => {
          this.#options.log.limited('accept', 'cannot accept', { reason: error.message })
        })
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      })
    })
  }

  /** How many there are of each kind. */
  countConnections(): { client: number; node: number; other: number } {
    const counts = { client: 0, node: 0, other: 0 }
    for (const { state } of this.#connections.values()) {
      counts[state === 'client' ? 'client' : state === 'link' ? 'node' : 'other']++
    }
    return counts
  }

  /** Replies for a client; copied. */
  output(session: number, bytes: Uint8Array): void {
    const connection = this.#connections.get(session)
    if (connection === undefined) return
    if (connection.socket.writableLength > UNREAD_BYTES_MAX) {
      const { from } = connection
      this.#options.log.limited('unread', 'dropped a client that does not read', { from })
      connection.socket.destroy()
      return
    }
    this.#output.put(connection, bytes)
  }

  /** What a client was sent and has not taken, as far as this process can tell. */
  unread(session: number): number {
    return this.#connections.get(session)?.socket.writableLength ?? 0
  }

  hangUp(session: number): void {
    const connection = this.#connections.get(session)
    if (connection === undefined) return
    const reason = /-(.{0,200})\r\n$/.exec(this.#output.tail(connection, 200))?.[1]
    if (reason !== undefined) {
      this.#options.log.limited('protocol', 'hung up', { from: connection.from, reason })
    }
    this.#end(connection)
  }

  pauseReading(session: number): void {
    const connection = this.#connections.get(session)
    if (connection?.state !== 'client') return
    connection.ahead = true
    connection.socket.pause()
  }

  resumeReading(session: number): void {
    const connection = this.#connections.get(session)
    if (connection === undefined) return
    connection.ahead = false
    if (!connection.unread) connection.socket.resume()
  }

  /** The end of a turn: one write a connection. */
  flush(): void {
    this.#output.flush()
  }

  /** To be called now and then: ends what has been undecided or closing for too long. */
  sweep(): void {
    const now = this.#options.clock.now()
    for (const connection of this.#connections.values()) {
      const { state, reserved, first, socket, conversation } = connection
      const age = now - connection.sinceMs
      const undecided =
        state === 'new' ? reserved || first.length > 0 : conversation?.patient === false
      if (state === 'closing' ? age > CLOSING_MS_MAX : undecided && age > UNDECIDED_MS_MAX) {
        socket.destroy()
      }
    }
  }

  /** Nobody new is let in, and nothing more is read from clients. */
  retire(): void {
    this.#closeServers()
    for (const connection of this.#connections.values()) {
      if (connection.state === 'client' || connection.state === 'new') connection.socket.pause()
    }
  }

  /** Resolves when the replies that were given out have been taken, or nobody takes them. */
  async close(): Promise<void> {
    this.#closeServers()
    this.flush()
    const closed = [...this.#connections.values()].map(
      ({ socket }) =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(() => socket.destroy(), CLOSING_MS_MAX)
          socket.once('close', () => {
            clearTimeout(timer)
            resolve()
          })
          socket.end(() => socket.destroy())
        })
    )
    await Promise.all(closed)
  }

  destroy(): void {
    this.#closeServers()
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #closeServers(): void {
    this.#server.close()
    this.#replicaServer?.close()
  }

  #accept(raw: Socket, asReplica: boolean): void {
    const { maxConnections, clock, log } = this.#options
    const count = this.#connections.size
    raw.on('error', () => raw.destroy())
    if (count >= maxConnections + RESERVED_CONNECTIONS) {
      log.limited('connections', 'too many connections', { connections: count })
      raw.end('-ERR max number of clients reached\r\n', () => raw.destroy())
      return
    }
    const id = this.#nextId++
    const socket = wrap(raw, this.#shared, (bytes) => this.#read(connection, bytes))
    const options = { now: clock.now(), reserved: count >= maxConnections, asReplica }
    const connection = new Connection(id, socket, options)
    this.#connections.set(id, connection)
    this.#listenTo(connection)
    socket.resume()
    if (socket !== raw) socket.read(0)
  }

  #listenTo(connection: Connection): void {
    const { socket, id } = connection
    socket.on('error', () => socket.destroy())
    socket.on('end', () => this.#end(connection))
    socket.on('drain', () => {
      if (!connection.unread) return
      connection.unread = false
      if (!connection.ahead) socket.resume()
    })
    socket.on('close', () => {
      this.#connections.delete(id)
      if (connection.state === 'client') this.#options.handlers.close(id)
    })
  }

  #read(connection: Connection, bytes: Uint8Array): void {
    switch (connection.state) {
      case 'client':
        this.#options.handlers.request(connection.id, bytes)
        return
      case 'link':
        this.#readLink(connection, bytes)
        return
      case 'new':
        this.#decide(connection, bytes)
        return
      case 'admin':
        connection.conversation?.take(bytes)
        return
      case 'closing':
    }
  }

  #decide(connection: Connection, bytes: Uint8Array): void {
    const first = connection.first.length === 0 ? bytes : Buffer.concat([connection.first, bytes])
    const known = recognise(first)
    const caller = known === 'admin' && connection.asReplica ? 'client' : known
    const now = this.#options.clock.now()
    if (connection.first.length === 0) connection.sinceMs = now
    switch (caller) {
      case 'unclear':
        connection.first = Buffer.from(first)
        return
      case 'admin':
        this.#change(connection, 'admin')
        connection.conversation = this.#converse(connection)
        connection.conversation.take(first)
        break
      case 'client':
        if (connection.reserved) this.#refuse(connection, '-ERR max number of clients reached\r\n')
        else {
          this.#change(connection, 'client')
          this.#options.handlers.open(connection.id, connection.origin)
          this.#options.handlers.request(connection.id, plain(first))
        }
        break
      default:
        this.#refuse(connection, WRONG_DOOR[caller])
    }
    connection.first = NO_BYTES
  }

  #converse(connection: Connection): AdminConversation {
    return new AdminConversation(this.#options.admin, {
      from: connection.from,
      reply: (bytes) => {
        this.#output.put(connection, bytes)
        this.#options.handlers.wake()
      },
      end: () => this.#end(connection),
      becomeLink: (peer, rest) => {
        this.#options.log.debug('link from a node', { peer, from: connection.from })
        this.#change(connection, 'link')
        connection.conversation = undefined
        connection.peer = peer
        connection.frames = new FrameReader((one) => this.#options.handlers.receive(one))
        if (rest.length > 0) this.#readLink(connection, rest)
      }
    })
  }

  #readLink(connection: Connection, bytes: Uint8Array): void {
    try {
      connection.frames?.push(bytes)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.log.limited('frames', 'closed a link', { from: connection.from, reason })
      connection.socket.destroy()
      return
    }
    const now = this.#options.clock.now()
    if (now - connection.heardMs < HEARD_MS) return
    connection.heardMs = now
    if (connection.frames?.isPartial === true) this.#options.handlers.hearing(connection.peer)
    this.#output.put(connection, HEARD)
  }

  #refuse(connection: Connection, text: string): void {
    const { from } = connection
    this.#options.log.limited(`refuse ${text}`, 'refused a connection', { from, reason: text })
    this.#output.put(connection, latin1Bytes(text))
    this.#end(connection)
  }

  /** After this turn's output. */
  #end(connection: Connection): void {
    connection.last = true
    this.#output.mark(connection)
    this.#options.handlers.wake()
  }

  #written(connection: Connection): void {
    const { socket } = connection
    if (connection.last) {
      if (connection.state === 'closing') return
      // What comes in from now on is read and dropped, or the last words would be lost with a reset.
      const wasClient = connection.state === 'client'
      this.#change(connection, 'closing')
      if (wasClient) this.#options.handlers.close(connection.id)
      if (socket.readableEnded) socket.end(() => socket.destroy())
      else socket.end()
    } else if (socket.writableLength > UNREAD_BYTES_PAUSE && !connection.unread) {
      connection.unread = true
      socket.pause()
    }
  }

  #change(connection: Connection, state: Connection['state']): void {
    connection.state = state
    connection.sinceMs = this.#options.clock.now()
  }
}

/** The same bytes as what the node expects: `slice` of a `Buffer` does not copy. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** A socket around the accepted handle that reads into the shared buffer, or the accepted socket itself. */
function wrap(raw: Socket, shared: Uint8Array, onBytes: (bytes: Uint8Array) => void): Socket {
  const { _handle: handle } = raw as unknown as { _handle?: { readStart?: unknown } | null }
  if (typeof handle?.readStart === 'function') {
    const callback = (length: number): boolean => {
      onBytes(shared.subarray(0, length))
      return true
    }
    const onread = { buffer: shared, callback }
    // `handle` is not among the documented options, but Node has taken it since its first versions.
    return new Socket({ handle, onread, allowHalfOpen: true } as ConstructorParameters<
      typeof Socket
    >[0])
  }
  raw.allowHalfOpen = true
  raw.on('data', (bytes) => onBytes(plain(bytes)))
  return raw
}
