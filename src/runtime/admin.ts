/**
 * Commands about the node itself, answered by the runtime: OC.STATUS, OC.REPORT, OC.LEAVE, OC.FORGET, and the called side of the
 * handshake of another node's link (OC.LINK, OC.PROOF; handshake.ts). They are only understood on a connection that
 * began with one of them, so clients' commands never pass through here.
 */
import { latin1Bytes, latin1String, NO_BYTES, viewOf } from '../core/bytes.js'
import { isNodeName } from '../core/ids.js'
import { PEER_PROTOCOL } from '../wire/peer/envelope.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import { INCOMPLETE, PROTOCOL_ERROR, RequestParser } from '../wire/resp/request-parser.js'
import { isLoopback } from '../config/address.js'
import { createNonce, isNonce, isProof, prove, type Greeting } from './handshake.js'
import type { Log } from './log.js'

export interface AdminOptions {
  readonly name: () => string
  readonly secret: Uint8Array
  readonly log: Log
  readonly status: () => unknown
  readonly report: (since: { sample: number; entry: number }) => unknown
  /** Resolves when the node has left, with what it could not hand over. */
  readonly leave: () => Promise<{ readonly left: boolean; readonly copies: number }>
  /** Why the node cannot be struck, if it cannot. */
  readonly forget: (name: string, force: boolean) => string | undefined
  readonly isOwn: (nonce: string) => boolean
}

/** The connection a conversation is on. */
export interface AdminPort {
  readonly from: string
  reply(bytes: Uint8Array): void
  /** After what was replied. */
  end(): void
  /** From here on there are frames; these bytes came already. */
  becomeLink(peer: string, rest: Uint8Array): void
}

const REQUEST_BYTES_MAX = 16 * 1024
const WORDS_MAX = 8

export class AdminConversation {
  /** It has said what it wants, and may take its time with the next command. */
  patient = false
  readonly #options: AdminOptions
  readonly #port: AdminPort
  readonly #parser = new RequestParser({ maxArguments: WORDS_MAX, maxBulkBytes: 1024 })
  #input: Uint8Array = NO_BYTES
  #greeting: Greeting | undefined
  #ended = false

  constructor(options: AdminOptions, port: AdminPort) {
    this.#options = options
    this.#port = port
  }

  take(bytes: Uint8Array): void {
    if (this.#isOver()) return
    this.#input = Buffer.concat([this.#input, bytes])
    let at = 0
    while (at < this.#input.length && !this.#isOver()) {
      this.#parser.reset()
      const input = this.#input
      const after = this.#parser.parse(input, viewOf(input), at, input.length)
      if (after === INCOMPLETE) break
      if (after === PROTOCOL_ERROR) {
        this.#refuse(this.#parser.errorText)
        return
      }
      at = after
      if (this.#parser.count > 0 && this.#execute(at)) return
    }
    this.#input = this.#input.subarray(at)
    if (this.#input.length > REQUEST_BYTES_MAX) this.#refuse('ERR Protocol error: too big request')
  }

  #isOver(): boolean {
    return this.#ended
  }

  /** True when the connection is a link from now on. */
  #execute(after: number): boolean {
    const { offsets, lengths, count } = this.#parser
    const words = Array.from({ length: count }, (_, place) =>
      latin1String(this.#input, offsets[place], lengths[place])
    )
    switch (words[0].toUpperCase()) {
      case 'OC.STATUS':
        this.patient = true
        this.#answer((reply) => reply.bulkString(JSON.stringify(this.#options.status())))
        return false
      case 'OC.REPORT': {
        this.patient = true
        const since = { sample: Number(words[1]), entry: Number(words[2]) }
        this.#answer((reply) => reply.bulkString(JSON.stringify(this.#options.report(since))))
        return false
      }
      case 'OC.LEAVE':
        this.patient = true
        this.#leave()
        return false
      case 'OC.FORGET':
        this.patient = true
        this.#forget(words[1] ?? '', words[2]?.toUpperCase() === 'FORCE')
        return false
      case 'OC.LINK':
        this.#greet(words)
        return false
      case 'OC.PROOF':
        return this.#checkProof(words, after)
      default:
        this.#refuse(`ERR '${words[0].slice(0, 64)}' is not understood on this connection`)
        return false
    }
  }

  /** Until there are users with permissions, only someone on this machine may stop or strike a node. */
  #isNear(command: string): boolean {
    if (isLoopback(this.#port.from.replace(/^\[?(.*?)\]?:\d+$/, '$1'))) return true
    this.#refuse(`ERR ${command} is only taken from the machine the node runs on`)
    return false
  }

  #forget(name: string, force: boolean): void {
    if (!this.#isNear('OC.FORGET')) return
    this.#options.log.info('asked to forget a node', { from: this.#port.from, name, force })
    const problem = this.#options.forget(name, force)
    this.#answer((reply) => (problem === undefined ? reply.ok() : reply.error(`ERR ${problem}`)))
  }

  #leave(): void {
    const { log, leave } = this.#options
    if (!this.#isNear('OC.LEAVE')) return
    log.info('asked to leave', { from: this.#port.from })
    void leave().then(({ left, copies }) => {
      if (left) this.#answer((reply) => reply.ok())
      else this.#answer((reply) => reply.error(`ERR timed out with ${copies} copies left`))
      this.#port.end()
    })
  }

  #greet([, protocol, caller = '', callerNonce = '']: string[]): void {
    const { secret, isOwn } = this.#options
    const name = this.#options.name()
    if (protocol !== String(PEER_PROTOCOL)) {
      this.#refuseLink(`OC_VERSION this node speaks version ${PEER_PROTOCOL}, not ${protocol}`)
    } else if (!isNodeName(caller) || !isNonce(callerNonce)) {
      this.#refuseLink('OC_LINK not a proper greeting')
    } else if (caller === name) {
      if (isOwn(callerNonce)) this.#refuse('OC_SELF this is the node itself')
      else this.#refuseLink(`OC_NAME there is a node named ${name} already`)
    } else {
      const calledNonce = createNonce()
      const greeting = { protocol: PEER_PROTOCOL, caller, called: name, callerNonce, calledNonce }
      this.#greeting = greeting
      this.#answer((reply) => {
        reply.array(3)
        reply.bulkString(name)
        reply.bulkString(calledNonce)
        reply.bulkString(prove(secret, 'called', greeting))
      })
    }
  }

  #checkProof([, proof = '']: string[], after: number): boolean {
    const greeting = this.#greeting
    if (greeting === undefined) {
      this.#refuseLink('OC_LINK a proof of nothing')
      return false
    }
    if (!isProof(proof, this.#options.secret, 'caller', greeting)) {
      this.#refuseLink(`OC_SECRET ${greeting.caller} has another secret`)
      return false
    }
    this.#answer((reply) => reply.ok())
    this.#ended = true
    this.#port.becomeLink(greeting.caller, this.#input.subarray(after))
    return true
  }

  #refuseLink(text: string): void {
    const { from } = this.#port
    this.#options.log.limited(`link ${text}`, 'refused a link', { from, reason: text })
    this.#refuse(text)
  }

  #refuse(text: string): void {
    this.#port.reply(latin1Bytes(`-${text}\r\n`))
    this.#ended = true
    this.#port.end()
  }

  #answer(write: (reply: ReplyWriter) => void): void {
    const reply = new ReplyWriter()
    write(reply)
    this.#port.reply(reply.bytes.subarray(0, reply.length))
  }
}
