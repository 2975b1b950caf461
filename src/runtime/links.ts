/**
 * Links to other nodes: one outgoing connection an address, on which this node says everything; what the other
 * says comes in on its own outgoing one. A link is reliable while it is up. Whatever was given to a link that
 * is down, or that goes down, is lost, and the node sends it again once it is told of the new link; so a
 * link that cannot take something must go down, never leave it out.
 *
 * Attempts are not made by a timer of their own: the node says something to every node it knows with every
 * heartbeat, and whatever it says starts an attempt if the last one is long enough ago.
 */
import { lookup } from 'node:dns/promises'
import { connect, type Socket } from 'node:net'
import { parseAddress } from '../config/address.js'
import { latin1Bytes } from '../core/bytes.js'
import { PEER_PROTOCOL } from '../wire/peer/envelope.js'
import { ReplyParser } from '../wire/resp/reply-parser.js'
import { RespError, RespProtocolError, type ReplyValue } from '../wire/resp/reply-value.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import type { Clock } from './clock.js'
import { frameHead, FRAME_HEAD_BYTES } from './frames.js'
import { createNonce, isProof, prove } from './handshake.js'
import type { Log } from './log.js'
import { Outgoing, TurnOutput } from './turn-output.js'

export interface LinksOptions {
  readonly name: string
  readonly secret: Uint8Array
  readonly clock: Clock
  readonly log: Log
  /** A new link is there; what was said before may be lost. */
  readonly onUp: (address: string) => void
  readonly onDown: (address: string) => void
  /** Another node goes by this one's name. */
  readonly onNameTaken: (address: string) => void
}

const HANDSHAKE_MS = 3000
const BACK_OFF_MS_MIN = 50
const BACK_OFF_MS_MAX = 1000
/** The other end lets itself be heard when something arrives; after this it is gone. */
const SILENCE_MS_MAX = 5000
/** A link nobody uses any more. */
const IDLE_MS_MAX = 60_000
/** More than a stream may owe and one envelope: beyond it the other end does not read. */
const QUEUED_BYTES_MAX = 256 * 1024 * 1024
/** Of what is said while there is no link, more is not kept. */
const LATEST_BYTES_MAX = 64 * 1024
const LINKS_MAX = 1024
/** How long the other end may take to read the rest. */
const CLOSE_MS_MAX = 500
const HANDSHAKE_BYTES_MAX = 4096

type Wrong = 'secret' | 'name' | 'self' | 'other'

class Link {
  readonly address: string
  state: 'down' | 'connecting' | 'up' = 'down'
  socket: Socket | undefined
  /** No attempt before this. */
  notBeforeMs = 0
  backOffMs = BACK_OFF_MS_MIN
  attempts = 0
  /** What was said last while there was no link: greetings, mostly, which nobody sends again. */
  latest: Uint8Array | undefined
  /** While it is up. */
  outgoing: Outgoing | undefined
  usedMs: number
  /** Since when it has said something and heard nothing; 0: not. */
  unheardSinceMs = 0

  constructor(address: string, now: number) {
    this.address = address
    this.usedMs = now
  }
}

export class Links {
  readonly #options: LinksOptions
  readonly #links = new Map<string, Link>()
  readonly #nonces = new Set<string>()
  /** What is said in one turn is put into one write a link. */
  readonly #output = new TurnOutput(() => undefined)
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES)
  #closed = false

  constructor(options: LinksOptions) {
    this.#options = options
  }

  /** Whether a greeting came from this very process. */
  isOwn(nonce: string): boolean {
    return this.#nonces.has(nonce)
  }

  /** Takes a copy of the envelope. */
  send(address: string, envelope: Uint8Array): void {
    const now = this.#options.clock.now()
    let link = this.#links.get(address)
    if (link === undefined) {
      if (this.#links.size >= LINKS_MAX || this.#closed) return
      link = new Link(address, now)
      this.#links.set(address, link)
    }
    link.usedMs = now
    if (link.state !== 'up') {
      if (envelope.length <= LATEST_BYTES_MAX) link.latest = envelope.slice()
      if (link.state === 'down' && now >= link.notBeforeMs) this.#open(link)
      return
    }
    this.#put(link, envelope)
  }

  /** Writes what was said in this turn, one write a link. */
  flush(): void {
    this.#output.flush()
  }

  /** To be called now and then: ends links that are silent or of no use. */
  sweep(): void {
    const now = this.#options.clock.now()
    for (const link of this.#links.values()) {
      const silent = link.unheardSinceMs !== 0 && now - link.unheardSinceMs > SILENCE_MS_MAX
      const idle = now - link.usedMs > IDLE_MS_MAX
      if (link.state === 'up' && silent) {
        this.#options.log.limited(`silent ${link.address}`, 'a link fell silent', {
          address: link.address
        })
      }
      if ((link.state === 'up' && silent) || idle) link.socket?.destroy()
      if (idle) this.#links.delete(link.address)
    }
  }

  /** Resolves when everything has been handed to the other ends, or does not want to be. */
  async close(): Promise<void> {
    this.flush()
    this.#closed = true
    const ends = [...this.#links.values()].flatMap(({ socket, state }) => {
      if (socket === undefined) return []
      if (state !== 'up') {
        socket.destroy()
        return []
      }
      return new Promise<void>((resolve) => {
        const timer = setTimeout(() => socket.destroy(), CLOSE_MS_MAX)
        socket.once('close', () => {
          clearTimeout(timer)
          resolve()
        })
        socket.end()
      })
    })
    await Promise.all(ends)
  }

  /** At once, whatever is still to be sent. */
  destroy(): void {
    this.#closed = true
    for (const { socket } of this.#links.values()) socket?.destroy()
  }

  #put(link: Link, envelope: Uint8Array): void {
    const { outgoing } = link
    if (outgoing === undefined) return
    if (outgoing.socket.writableLength + envelope.length > QUEUED_BYTES_MAX) {
      this.#options.log.limited(`full ${link.address}`, 'a node does not take what it is sent', {
        address: link.address
      })
      outgoing.socket.destroy()
      return
    }
    this.#output.put(outgoing, frameHead(envelope.length, this.#head))
    this.#output.put(outgoing, envelope)
    if (link.unheardSinceMs === 0) link.unheardSinceMs = this.#options.clock.now()
  }

  #open(link: Link): void {
    const target = parseAddress(link.address)
    if (target === undefined || this.#closed) return
    link.state = 'connecting'
    link.attempts++
    // A name may stand for several machines: each attempt takes the next one.
    lookup(target.host, { all: true }).then(
      (hosts) => {
        const host = hosts[(link.attempts - 1) % hosts.length]?.address ?? target.host
        if (!this.#closed) this.#connect(link, host, target.port)
      },
      (error: unknown) => {
        link.state = 'down'
        this.#failed(link, describe(error))
      }
    )
  }

  #connect(link: Link, host: string, port: number): void {
    const socket = connect({ host, port, noDelay: true, keepAlive: true })
    link.socket = socket
    let reason = 'the connection was closed'
    let wrong: Wrong = 'other'
    const verdict = { refused: false }
    const nonce = createNonce()
    const handshake = new Handshake(this.#options, nonce, (problem, kind) => {
      reason = problem
      wrong = kind
      verdict.refused = true
    })
    const takeHandshake = (bytes: Buffer): void => {
      const answer = handshake.take(bytes)
      if (answer === 'up') {
        socket.setTimeout(0)
        this.#nonces.delete(nonce)
        this.#up(link, socket)
      } else if (answer !== undefined) socket.write(answer)
      if (verdict.refused) socket.end()
    }
    socket.setTimeout(HANDSHAKE_MS, () => {
      reason = 'it does not answer'
      socket.destroy()
    })
    socket.on('connect', () => {
      this.#nonces.add(nonce)
      socket.write(encode('OC.LINK', String(PEER_PROTOCOL), this.#options.name, nonce))
    })
    socket.on('data', (bytes) => {
      if (link.state === 'up') link.unheardSinceMs = 0
      else if (!verdict.refused) takeHandshake(bytes)
    })
    socket.on('error', (error) => (reason = describe(error)))
    socket.on('close', () => {
      this.#nonces.delete(nonce)
      this.#down(link, reason, wrong)
    })
  }

  #up(link: Link, socket: Socket): void {
    link.state = 'up'
    link.outgoing = new Outgoing(socket)
    link.backOffMs = BACK_OFF_MS_MIN
    link.unheardSinceMs = 0
    this.#options.log.debug('link up', { address: link.address })
    if (link.latest !== undefined) this.#put(link, link.latest)
    link.latest = undefined
    this.#options.onUp(link.address)
  }

  #down(link: Link, reason: string, wrong: Wrong): void {
    const was = link.state
    link.state = 'down'
    link.socket = undefined
    link.outgoing = undefined
    link.unheardSinceMs = 0
    if (this.#closed) return
    if (wrong === 'name') this.#options.onNameTaken(link.address)
    if (was === 'up') {
      link.notBeforeMs = this.#options.clock.now() + BACK_OFF_MS_MIN * Math.random()
      this.#options.log.debug('link down', { address: link.address, reason })
      this.#options.onDown(link.address)
    } else if (wrong === 'self') link.notBeforeMs = this.#options.clock.now() + BACK_OFF_MS_MIN
    else this.#failed(link, reason)
  }

  #failed(link: Link, reason: string): void {
    const { clock, log } = this.#options
    link.notBeforeMs = clock.now() + link.backOffMs * (0.5 + Math.random() / 2)
    link.backOffMs = Math.min(link.backOffMs * 2, BACK_OFF_MS_MAX)
    log.limited(`reach ${link.address}`, 'cannot reach a node, trying again', {
      address: link.address,
      reason
    })
  }
}

/** The caller's side of the handshake: bytes in, and what is to be answered. */
class Handshake {
  readonly #options: LinksOptions
  readonly #nonce: string
  readonly #refuse: (reason: string, wrong: Wrong) => void
  readonly #parser = new ReplyParser({
    onReply: (value) => this.#replies.push(value),
    maxBulkBytes: HANDSHAKE_BYTES_MAX,
    maxItems: 8
  })
  readonly #replies: ReplyValue[] = []
  #proved = false

  constructor(
    options: LinksOptions,
    nonce: string,
    refuse: (reason: string, wrong: Wrong) => void
  ) {
    this.#options = options
    this.#nonce = nonce
    this.#refuse = refuse
  }

  take(bytes: Uint8Array): Uint8Array | 'up' | undefined {
    try {
      this.#parser.push(bytes)
    } catch (error) {
      if (!(error instanceof RespProtocolError)) throw error
      this.#refuse('it does not speak our protocol', 'other')
      return undefined
    }
    const reply = this.#replies.shift()
    if (reply === undefined) return undefined
    if (reply instanceof RespError) {
      const { code } = reply
      const wrong = code === 'OC_NAME' ? 'name' : code === 'OC_SELF' ? 'self' : 'other'
      this.#refuse(reply.text, wrong)
      return undefined
    }
    if (this.#proved) {
      if (reply === 'OK') return 'up'
      this.#refuse('it does not speak our protocol', 'other')
      return undefined
    }
    return this.#prove(reply)
  }

  #prove(reply: ReplyValue): Uint8Array | undefined {
    const [called, calledNonce, proof] = Array.isArray(reply) ? reply : []
    if (
      typeof called !== 'string' ||
      typeof calledNonce !== 'string' ||
      typeof proof !== 'string'
    ) {
      this.#refuse('it is not a node', 'other')
      return undefined
    }
    const { name, secret } = this.#options
    const protocol = PEER_PROTOCOL
    const greeting = { protocol, caller: name, called, callerNonce: this.#nonce, calledNonce }
    if (!isProof(proof, secret, 'called', greeting)) {
      this.#refuse('it has another secret', 'secret')
      // So that the other side can say so as well; a proof of ours would help it guess the secret.
      return encode('OC.PROOF', 'mismatch')
    }
    this.#proved = true
    return encode('OC.PROOF', prove(secret, 'caller', greeting))
  }
}

function encode(...words: string[]): Uint8Array {
  return encodeArguments(words.map(latin1Bytes))
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several attempts at once fail with an error that has no message of its own.
  const code = (error as NodeJS.ErrnoException).code
  return error.message === '' ? (code ?? error.name) : error.message
}
