/**
 * The Redis protocol on a node of a ring: what a key/value client needs, with the quorums a request without `ack` and
 * `from` has. GET, SET (EX, PX), DEL, EXISTS, and what clients say to introduce themselves. A request that too few replicas
 * answered is `-NOREPLICAS`, which Redis has for that. Everything else says where it stands: a ring has no order of
 * writes over several copies in which a counter or a list could be changed.
 *
 * Commands of one connection are executed one after the other, so replies come in their order and a client reads what it
 * has written.
 */
import { latin1String, NO_BYTES, viewOf } from '../core/bytes.js'
import type { RingAnswer, RingRequest } from '../node/ring/outbox.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import { INCOMPLETE, PROTOCOL_ERROR, RequestParser } from '../wire/resp/request-parser.js'

export interface RingRespPorts {
  readonly version: string
  readonly name: () => string
  readonly items: () => number
  request(request: Omit<RingRequest, 'id'>): Promise<RingAnswer>
  output(session: number, bytes: Uint8Array): void
  hangUp(session: number): void
}

const ARGUMENTS_MAX = 1024
const BULK_BYTES_MAX = 32 * 1024 * 1024
/** What a client may send ahead of its replies. */
const INPUT_BYTES_MAX = 64 * 1024 * 1024
const TTL_MS_MAX = 1e14

type Words = readonly Uint8Array[]

class Session {
  input: Uint8Array = NO_BYTES
  busy = false
  open = true
  protocol: 2 | 3 = 2
}

export class RingResp {
  readonly #ports: RingRespPorts
  readonly #sessions = new Map<number, Session>()
  readonly #parser = new RequestParser({
    maxArguments: ARGUMENTS_MAX,
    maxBulkBytes: BULK_BYTES_MAX
  })

  constructor(ports: RingRespPorts) {
    this.#ports = ports
  }

  take(id: number, bytes: Uint8Array): void {
    let session = this.#sessions.get(id)
    if (session === undefined) this.#sessions.set(id, (session = new Session()))
    // The bytes belong to the connection's buffer, which is used again.
    session.input = Buffer.concat([session.input, bytes])
    if (session.input.length > INPUT_BYTES_MAX) this.#end(id, session, 'ERR too much at once')
    else if (!session.busy) void this.#work(id, session)
  }

  close(id: number): void {
    const session = this.#sessions.get(id)
    if (session !== undefined) session.open = false
    this.#sessions.delete(id)
  }

  async #work(id: number, session: Session): Promise<void> {
    session.busy = true
    for (let words = this.#next(id, session); words !== undefined;) {
      const reply = new ReplyWriter({ protocol: session.protocol })
      const isLast = await this.#execute(words, reply, session)
      if (!session.open) return
      this.#ports.output(id, reply.bytes.subarray(0, reply.length))
      if (isLast) this.#ports.hangUp(id)
      words = isLast ? undefined : this.#next(id, session)
    }
    session.busy = false
  }

  /** The next command that has come whole. */
  #next(id: number, session: Session): Words | undefined {
    const { input } = session
    const parser = this.#parser
    for (let at = 0; at < input.length;) {
      parser.reset()
      const after = parser.parse(input, viewOf(input), at, input.length)
      if (after === INCOMPLETE) break
      if (after === PROTOCOL_ERROR) {
        this.#end(id, session, parser.errorText)
        return undefined
      }
      at = after
      session.input = input.subarray(at)
      if (parser.count === 0) continue
      return Array.from({ length: parser.count }, (_, place) => {
        const start = parser.offsets[place]
        return input.subarray(start, start + parser.lengths[place])
      })
    }
    return undefined
  }

  #end(id: number, session: Session, text: string): void {
    const reply = new ReplyWriter()
    reply.error(text)
    this.#ports.output(id, reply.bytes.subarray(0, reply.length))
    this.#ports.hangUp(id)
    session.open = false
    this.#sessions.delete(id)
  }

  /** True if the connection is to end. */
  async #execute([first, ...rest]: Words, reply: ReplyWriter, session: Session): Promise<boolean> {
    const name = textOf(first).toUpperCase()
    const arity = ARITIES.get(name)
    if (arity !== undefined && (rest.length < arity[0] || rest.length > arity[1])) {
      reply.error(`ERR wrong number of arguments for '${name.toLowerCase()}' command`)
      return false
    }
    switch (name) {
      case 'GET':
        answerGet(await this.#ports.request({ kind: 'get', key: rest[0] }), reply)
        break
      case 'SET':
        await this.#set(rest, reply)
        break
      case 'DEL':
      case 'EXISTS':
        await this.#count(rest, name === 'DEL', reply)
        break
      case 'DBSIZE':
        reply.integer(this.#ports.items())
        break
      default:
        return this.#introduce(name, rest, { reply, session })
    }
    return false
  }

  async #set([key, value, ...options]: Words, reply: ReplyWriter): Promise<void> {
    const ttl = readTtl(options)
    if (typeof ttl === 'string') {
      reply.error(ttl)
      return
    }
    const more = ttl === undefined ? {} : { ttlMs: ttl }
    const answer = await this.#ports.request({ kind: 'put', key, value, ...more })
    if (answer.status === 201) reply.ok()
    else answerRefused(answer, reply)
  }

  /** How many of the keys there are, and with DEL are no more. */
  async #count(keys: Words, deletes: boolean, reply: ReplyWriter): Promise<void> {
    let count = 0
    for (const key of keys) {
      const found = await this.#ports.request({ kind: 'get', key })
      const answer =
        deletes && found.status === 200 ? await this.#ports.request({ kind: 'delete', key }) : found
      if (answer.status >= 400 && answer.status !== 404) {
        answerRefused(answer, reply)
        return
      }
      if (found.status === 200) count++
    }
    reply.integer(count)
  }

  #introduce(
    name: string,
    words: Words,
    { reply, session }: { reply: ReplyWriter; session: Session }
  ): boolean {
    switch (name) {
      case 'PING':
        if (words.length === 0) reply.pong()
        else reply.bulkString(textOf(words[0]))
        return false
      case 'ECHO':
        reply.bulkString(textOf(words[0]))
        return false
      case 'HELLO': {
        const protocol = words.length === 0 ? session.protocol : Number(textOf(words[0]))
        if (protocol !== 2 && protocol !== 3) {
          reply.error('NOPROTO unsupported protocol version')
          return false
        }
        session.protocol = protocol
        reply.protocol = protocol
        this.#greet(protocol, reply)
        return false
      }
      case 'SELECT':
        if (textOf(words[0]) === '0') reply.ok()
        else reply.error('ERR DB index is out of range')
        return false
      case 'CLIENT':
        reply.ok()
        return false
      case 'COMMAND':
        reply.array(0)
        return false
      case 'INFO':
        reply.bulkString(`# Server\r\nredis_mode:standalone\r\nopencluster_placement:ring\r\n`)
        return false
      case 'QUIT':
        reply.ok()
        return true
      default:
        reply.error(
          `ERR '${name.slice(0, 64)}' is not there on a ring, which has GET, SET, DEL and EXISTS; the rest is at /v0/entity`
        )
        return false
    }
  }

  #greet(protocol: number, reply: ReplyWriter): void {
    const { version, name } = this.#ports
    reply.map(5)
    reply.bulkString('server')
    reply.bulkString('opencluster')
    reply.bulkString('version')
    reply.bulkString(version)
    reply.bulkString('proto')
    reply.integer(protocol)
    reply.bulkString('mode')
    reply.bulkString('standalone')
    reply.bulkString('node')
    reply.bulkString(name())
  }
}

/** Least and most words after the name. */
const ARITIES: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['GET', [1, 1]],
  ['SET', [2, 4]],
  ['DEL', [1, Infinity]],
  ['EXISTS', [1, Infinity]],
  ['ECHO', [1, 1]],
  ['SELECT', [1, 1]],
  ['PING', [0, 1]]
])

function textOf(word: Uint8Array): string {
  return latin1String(word, 0, word.length)
}

/** Milliseconds, nothing, or what is wrong. */
function readTtl(options: Words): number | undefined | string {
  if (options.length === 0) return undefined
  const unit = textOf(options[0]).toUpperCase()
  if (options.length !== 2 || (unit !== 'EX' && unit !== 'PX')) return 'ERR syntax error'
  const text = textOf(options[1])
  const ms = /^\d{1,15}$/.test(text) ? Number(text) * (unit === 'EX' ? 1000 : 1) : 0
  return ms >= 1 && ms <= TTL_MS_MAX ? ms : "ERR invalid expire time in 'set' command"
}

function answerGet(answer: RingAnswer, reply: ReplyWriter): void {
  if (answer.status === 200) {
    const { value } = answer
    reply.bulk(value, viewOf(value), 0, value.length)
  } else if (answer.status === 404) reply.nil()
  else answerRefused(answer, reply)
}

function answerRefused(answer: RingAnswer, reply: ReplyWriter): void {
  reply.error(`NOREPLICAS ${'reason' in answer ? answer.reason : `answered ${answer.status}`}`)
}
