/**
 * MGET whose keys are all here: each is read where it lies, straight into the reply. As the parts of a command over
 * several keys, each with a request and a reply of its own, ten keys cost some 40 times as much as one GET.
 */
import type { Call } from '../commands/call.js'
import { TYPE_STRING } from '../store/value-type.js'
import { ReplyLimitError } from '../wire/resp/reply-writer.js'
import type { RequestParser } from '../wire/resp/request-parser.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import { type Execution, TOO_LONG } from './door/execution.js'
import type { DoorStatistics } from './door/statistics.js'
import { isNamed } from './key-parts.js'
import type { Gate, Session } from './session.js'

const NAME = 'mget'
/** A command over more keys is executed like any other over several. */
const KEYS_MAX = 1024

export class KeyReads {
  readonly #cluster: Cluster
  readonly #copies: Copies
  readonly #execution: Execution
  readonly #statistics: DoorStatistics
  readonly #call: Call
  /** Of the keys of the command that is looked at. */
  readonly #hashes = new Int32Array(KEYS_MAX + 1)

  constructor(
    cluster: Cluster,
    call: Call,
    parts: { copies: Copies; execution: Execution; statistics: DoorStatistics }
  ) {
    this.#cluster = cluster
    this.#copies = parts.copies
    this.#execution = parts.execution
    this.#statistics = parts.statistics
    this.#call = call
  }

  /** False if it is another command or takes more than that; then nothing was done. */
  execute(session: Session, parser: RequestParser, gates: Gate[]): boolean {
    const { bytes } = session.input
    if (!isNamed(NAME, bytes, parser.offsets[0], parser.lengths[0])) return false
    if (parser.count < 2 || parser.count > KEYS_MAX || session.remote !== undefined) return false
    // Somebody wants to hear of keys that are not there.
    if (this.#execution.observer !== undefined || !this.#cluster.mayServe()) return false
    if (!this.#areHere(session, parser)) return false
    this.#statistics.aside++
    this.#statistics.note(NAME, 0)
    const { reply } = this.#call
    const before = reply.length
    reply.boundless = false
    try {
      this.#read(session, parser, gates)
    } catch (error) {
      if (!(error instanceof ReplyLimitError)) throw error
      reply.truncate(before)
      reply.error(TOO_LONG)
    }
    return true
  }

  #areHere(session: Session, { offsets, lengths, count }: RequestParser): boolean {
    const { buckets, table } = this.#cluster
    const { hash } = this.#execution
    const { bytes } = session.input
    const hashes = this.#hashes
    for (let place = 1; place < count; place++) {
      const own = hash.hash(bytes, offsets[place], lengths[place])
      const state = buckets[own & table.mask]
      if (state?.role !== 'primary' || state.holding) return false
      hashes[place] = own
      // Whoever knows where keys are asks for keys of one slot only, or is told so.
      if (own !== hashes[1] && session.isClusterAware) return false
    }
    return true
  }

  #read({ input }: Session, { offsets, lengths, count }: RequestParser, gates: Gate[]): void {
    const { bytes, view } = input
    const { buckets, table, now } = this.#cluster
    const { reply, key } = this.#call
    reply.array(count - 1)
    for (let place = 1; place < count; place++) {
      const hash = this.#hashes[place]
      const state = buckets[hash & table.mask]
      if (state === undefined) continue
      const { items } = state
      key.set(bytes, view, offsets[place], lengths[place], hash)
      const ref = items.find(key, now)
      this.#execution.reads++
      if (ref === 0) this.#execution.misses++
      if (ref === 0 || items.typeOf(ref) !== TYPE_STRING) reply.nil()
      else {
        const at = items.valueOffset(ref)
        reply.bulk(items.valueBytes(ref), items.valueView(ref), at, items.valueLength(ref))
      }
      if (!state.isSettled()) this.#copies.gateRead(state, key, gates)
    }
  }
}
