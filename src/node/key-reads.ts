/**
 * MGET whose keys are all here: each is read where it lies, straight into the reply. As the parts of a command over
 * several keys, each with a request and a reply of its own, ten keys cost some 40 times as much as one GET.
 */
import { TYPE_STRING } from '../store/value-type.js'
import { ReplyLimitError } from '../wire/resp/reply-writer.js'
import type { RequestParser } from '../wire/resp/request-parser.js'
import { TOO_LONG } from './door/execution.js'
import { isNamed, type LocalKeys } from './key-parts.js'
import type { Session } from './session.js'
import type { Gate } from './segment.js'

const NAME = 'mget'
/** A command over more keys is executed like any other over several. */
const KEYS_MAX = 1024

export class KeyReads {
  readonly #door: LocalKeys
  /** Of the keys of the command that is looked at. */
  readonly #hashes = new Int32Array(KEYS_MAX + 1)

  constructor(door: LocalKeys) {
    this.#door = door
  }

  /** False if it is another command or takes more than that; then nothing was done. */
  execute(session: Session, parser: RequestParser, gates: Gate[]): boolean {
    const { bytes } = session.input
    if (!isNamed(NAME, bytes, parser.offsets[0], parser.lengths[0])) return false
    if (parser.count < 2 || parser.count > KEYS_MAX || session.remote !== undefined) return false
    // Somebody wants to hear of keys that are not there.
    if (this.#door.execution.observer !== undefined || !this.#door.cluster.mayServe()) return false
    if (!this.#areHere(session, parser)) return false
    this.#door.statistics.aside++
    this.#door.statistics.note(NAME, 0)
    const { reply } = this.#door.call
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
    const { buckets, table } = this.#door.cluster
    const { hash } = this.#door.execution
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
    const { buckets, table, now } = this.#door.cluster
    const { reply, key } = this.#door.call
    reply.array(count - 1)
    for (let place = 1; place < count; place++) {
      const hash = this.#hashes[place]
      const state = buckets[hash & table.mask]
      if (state === undefined) continue
      const { items } = state
      key.set(bytes, view, offsets[place], lengths[place], hash)
      const ref = items.find(key, now)
      this.#door.execution.reads++
      if (ref === 0) this.#door.execution.misses++
      if (ref === 0 || items.typeOf(ref) !== TYPE_STRING) reply.nil()
      else {
        const at = items.valueOffset(ref)
        reply.bulk(items.valueBytes(ref), items.valueView(ref), at, items.valueLength(ref))
      }
      if (!state.isSettled()) this.#door.copies.gateRead(state, key, gates)
    }
  }
}
