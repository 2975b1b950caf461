/**
 * All watches of a client. Each pattern is registered with every feed (feeds.ts), so that an event comes once from each and
 * goes on coming as long as one of them lives. The first is delivered; the others are known by key, write number and
 * kind, which are the same on every way, whatever mask its nodes have.
 */
import { latin1String, utf8Bytes } from '../core/bytes.js'
import { matchesGlob } from '../core/glob.js'
import { RespProtocolError, type ReplyValue } from '../wire/resp/reply-value.js'
import { asText, textOf } from './reply.js'
import { WatchStream, type KeyEvent } from './watch-stream.js'

/** At least so many events are remembered, at most twice as many. Feeds differ by a round trip or two. */
const REMEMBERED = 8192
const KINDS: ReadonlySet<string> = new Set(['set', 'deleted', 'expired', 'evicted'])

interface Watch {
  readonly stream: WatchStream
  /** One character a byte, as the nodes match them. */
  readonly glob: string
}

export interface WatchHubHandlers {
  /** A pattern is watched now. */
  begin(pattern: string): void
  /** Nobody watches it any more. */
  end(pattern: string): void
}

export class WatchHub {
  readonly #handlers: WatchHubHandlers
  readonly #maxEvents: number
  readonly #watches = new Set<Watch>()
  #seen = new Set<string>()
  #seenBefore = new Set<string>()

  constructor(maxEvents: number, handlers: WatchHubHandlers) {
    this.#maxEvents = maxEvents
    this.#handlers = handlers
  }

  get patterns(): Set<string> {
    return new Set([...this.#watches].map(({ stream }) => stream.pattern))
  }

  get any(): boolean {
    return this.#watches.size > 0
  }

  add(pattern: string): WatchStream {
    const bytes = utf8Bytes(pattern)
    const glob = latin1String(bytes, 0, bytes.length)
    const stream = new WatchStream(pattern, this.#maxEvents, () => this.#remove(watch))
    const watch = { stream, glob }
    this.#watches.add(watch)
    this.#handlers.begin(pattern)
    return stream
  }

  registered(pattern: string): void {
    for (const { stream } of this.#watches) if (stream.pattern === pattern) stream.markReady()
  }

  /** No node takes the watch. */
  refused(pattern: string, error: Error): void {
    for (const { stream } of [...this.#watches]) if (stream.pattern === pattern) stream.fail(error)
  }

  /** `oc.event`, bucket, write number, what happened, the key. */
  take(items: readonly ReplyValue[]): void {
    const [, bucket, seq, change, key] = items
    const kind = asText(change)
    if (typeof bucket !== 'number' || typeof seq !== 'number' || !KINDS.has(kind)) {
      throw new RespProtocolError('not an event')
    }
    const bytes = key instanceof Uint8Array ? key : utf8Bytes(asText(key))
    const name = latin1String(bytes, 0, bytes.length)
    if (!this.#isNew(`${seq} ${kind} ${name}`)) return
    const event = { kind: kind as KeyEvent['kind'], key: textOf(bytes), bucket, seq }
    for (const { stream, glob } of this.#watches) if (matchesGlob(glob, name)) stream.put(event)
  }

  gap(reason: string): void {
    for (const { stream } of this.#watches) stream.put({ kind: 'gap', reason })
  }

  end(): void {
    for (const { stream } of [...this.#watches]) stream.end()
  }

  #remove(watch: Watch): void {
    const { pattern } = watch.stream
    this.#watches.delete(watch)
    if (!this.patterns.has(pattern)) this.#handlers.end(pattern)
  }

  #isNew(event: string): boolean {
    if (this.#seen.has(event) || this.#seenBefore.has(event)) return false
    if (this.#seen.size >= REMEMBERED) {
      this.#seenBefore = this.#seen
      this.#seen = new Set()
    }
    this.#seen.add(event)
    return true
  }
}
