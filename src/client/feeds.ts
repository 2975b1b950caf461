/**
 * The connections by which the cluster tells the client what changes: rows of the table, and events of watched keys. Two
 * nodes do so, if there are two: each says everything, so either may die. More would only say the same again, which with a
 * hundred nodes would be a hundred pushes a change. When one is lost another takes its place; when none was left that knew
 * the watches, watchers are told of a gap as soon as there is one again.
 *
 *   C: OC.TABLE SUBSCRIBE          S: the table, and later pushes `oc.table` (src/node/table-feed.ts)
 *   C: OC.WATCH client pattern     S: OK once every node knows, and later pushes `oc.event` and `oc.gap`
 *   C: OC.UNWATCH client pattern   S: OK
 */
import { randomUUID } from 'node:crypto'
import type { ReplyValue } from '../wire/resp/reply-value.js'
import type { NodeConnection } from './node-connection.js'
import { asText, ReplyError } from './reply.js'
import type { Router } from './router.js'
import type { WatchHub } from './watch-hub.js'

const FEEDS = 2

interface Feed {
  /** It has confirmed every watch there was when it began. */
  confirmed: boolean
}

export class Feeds {
  readonly #router: Router
  readonly #hub: WatchHub
  readonly #id = randomUUID()
  readonly #feeds = new Map<NodeConnection, Feed>()
  #gap = false
  #learnt: () => void = () => undefined
  /** Resolves when a first node has told its table, or that it has none to tell. */
  readonly started = new Promise<void>((resolve) => (this.#learnt = resolve))

  constructor(router: Router, hub: WatchHub) {
    this.#router = router
    this.#hub = hub
  }

  /** Sees that there are enough. */
  keep(): void {
    for (const connection of this.#router.connections) {
      if (this.#feeds.size >= FEEDS) return
      if (connection.state !== 'ready' || connection.silent) continue
      if (!this.#feeds.has(connection)) this.#begin(connection)
    }
  }

  lost(connection: NodeConnection): void {
    if (!this.#feeds.delete(connection)) return
    if (this.#hub.any && ![...this.#feeds.values()].some(({ confirmed }) => confirmed)) {
      this.#gap = true
    }
    this.keep()
  }

  /** A silent node is as good as lost, until it speaks again. */
  sweep(): void {
    for (const connection of [...this.#feeds.keys()]) if (connection.silent) this.lost(connection)
    this.keep()
  }

  pushed(items: ReplyValue[]): void {
    switch (asText(items[0])) {
      case 'oc.table':
        this.#router.learn(items)
        return
      case 'oc.event':
        this.#hub.take(items)
        return
      case 'oc.gap':
        this.#hub.gap('a node says that events were lost')
    }
  }

  watch(pattern: string): void {
    const told = [...this.#feeds.keys()].map((connection) => this.#tell(connection, pattern))
    void Promise.all(told).then((answers) => {
      const refusal = answers.find((answer) => answer instanceof ReplyError)
      if (answers.includes(true)) this.#hub.registered(pattern)
      else if (refusal !== undefined) this.#hub.refused(pattern, refusal)
    })
  }

  unwatch(pattern: string): void {
    for (const connection of this.#feeds.keys()) {
      this.#router.runAt(connection, ['OC.UNWATCH', this.#id, pattern]).catch(() => undefined)
    }
  }

  #begin(connection: NodeConnection): void {
    const feed: Feed = { confirmed: false }
    this.#feeds.set(connection, feed)
    this.#router
      .runAt(connection, ['OC.TABLE', 'SUBSCRIBE'])
      .then((reply) => {
        if (Array.isArray(reply)) this.#router.learn(reply)
        this.#learnt()
      })
      .catch((error: unknown) => {
        // A node without tables forwards everything, which is enough.
        if (error instanceof ReplyError) this.#learnt()
      })
    void this.#tellAll(connection, feed)
  }

  async #tellAll(connection: NodeConnection, feed: Feed): Promise<void> {
    const patterns = [...this.#hub.patterns]
    const answers = await Promise.all(patterns.map((pattern) => this.#tell(connection, pattern)))
    const known = answers.every((answer) => answer === true)
    if (!known || this.#feeds.get(connection) !== feed) return
    feed.confirmed = true
    for (const pattern of patterns) this.#hub.registered(pattern)
    if (!this.#gap) return
    this.#gap = false
    this.#hub.gap('no node was connected')
  }

  /** True, or why the node could not be told. */
  #tell(connection: NodeConnection, pattern: string): Promise<unknown> {
    return this.#router.runAt(connection, ['OC.WATCH', this.#id, pattern]).then(
      () => true,
      (error: unknown) => error
    )
  }
}
