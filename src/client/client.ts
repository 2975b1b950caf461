/**
 * A client of the whole cluster: it holds the table, so that a command takes one hop, and follows every change of it.
 * Many commands may be under way at a time; those of one turn go to each node in one write.
 *
 * Two commands on one key that are not awaited in between are executed in their order, unless the bucket moves to another node
 * just then: whoever needs the order awaits the first.
 */
import { OpenClusterError } from '../errors.js'
import { normalizeAddress } from './address.js'
import type { Argument } from './argument.js'
import { ClusterMap } from './cluster-map.js'
import { ClusterQueue } from './cluster-queue.js'
import { CollectionCommands } from './collection-commands.js'
import { Counter } from './counter.js'
import { Feeds } from './feeds.js'
import { Lock, type LockOptions } from './lock.js'
import { once, type OnceOptions } from './once.js'
import { settle, type ClientOptions, type Settings } from './options.js'
import type { TextReply } from './reply.js'
import { Router } from './router.js'
import { WatchHub } from './watch-hub.js'
import type { WatchStream } from './watch-stream.js'

/** What can differ from command to command. */
export type CommandOptions = Pick<ClientOptions, 'timeoutMs' | 'repeatWrites'>

/** What a client knows of the cluster. */
export interface ClusterView {
  /** The cluster's own number; empty while no node has told its table. */
  readonly cluster: string
  readonly buckets: number
  /** Addresses of the nodes that hold copies. */
  readonly nodes: readonly string[]
  /** Those this client is connected to and that answer. */
  readonly connected: readonly string[]
}

/** A connection to a whole cluster: one socket a node, commands go straight to where their key is. Made by `connect`. */
export class Client extends CollectionCommands {
  readonly #core: Core

  /** By `connect`, not by hand. */
  constructor(core: Core, settings: Settings) {
    super(core.router, settings)
    this.#core = core
  }

  /** The same client with other settings for the commands that are given through it; the connections are shared. */
  with(options: CommandOptions): Client {
    return new Client(this.#core, settle(options, this.settings))
  }

  /**
   * What happens to the keys of a pattern (`*` any text, `?` any character, `[abc]`), until the loop over it is left. It goes
   * on over moves and failovers; where something may have been missed there is a `gap` among the events.
   */
  watch(pattern: string): WatchStream {
    return this.#core.hub.add(pattern)
  }

  /** A write that is executed at most once under its token, however often it is tried; gives the first reply. */
  once(options: OnceOptions, name: string, key: string, ...args: Argument[]): Promise<TextReply> {
    return once(this, [name, key, ...args], options)
  }

  /** A lock of the whole cluster, whose holder has a token that a resource can check. */
  lock(name: string, options?: LockOptions): Lock {
    return new Lock(this, name, options)
  }

  /** A number that anybody may add to. */
  counter(name: string): Counter {
    return new Counter(this, name)
  }

  /** A map whose entries are spread over the cluster. */
  map<V>(name: string): ClusterMap<V> {
    return new ClusterMap<V>(this, name)
  }

  /** A queue of work that gives every item to one taker at a time. */
  queue<T>(name: string): ClusterQueue<T> {
    return new ClusterQueue<T>(this, name)
  }

  /** What the client knows of the cluster at the moment. */
  view(): ClusterView {
    const { topology, connections } = this.router
    const connected = [...connections].filter(({ state, silent }) => state === 'ready' && !silent)
    return {
      cluster: topology.cluster,
      buckets: topology.mask === undefined ? 0 : topology.mask + 1,
      nodes: [...topology.holders].sort(),
      connected: connected.map(({ address }) => address).sort()
    }
  }

  /** Waits for the commands under way; later ones are refused. */
  async close(): Promise<void> {
    this.#core.hub.end()
    await this.router.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** What all views of a client share. */
interface Core {
  readonly router: Router
  readonly hub: WatchHub
  readonly feeds: Feeds
}

function createCore(seeds: readonly string[], settings: Settings): Core {
  const router = new Router(seeds, settings, {
    ready: () => feeds.keep(),
    lost: (connection) => feeds.lost(connection),
    pushed: (_, items) => feeds.pushed(items),
    sweep: () => feeds.sweep()
  })
  const hub = new WatchHub(settings.maxEvents, {
    begin: (pattern) => feeds.watch(pattern),
    end: (pattern) => feeds.unwatch(pattern)
  })
  const feeds = new Feeds(router, hub)
  return { router, hub, feeds }
}

/**
 * Connects to a cluster by any of its nodes; the others it learns of by itself. Resolves when a node has answered,
 * and rejects with OC_UNREACHABLE if none does in time.
 */
export async function connect(
  addresses: string | readonly string[],
  options: ClientOptions = {}
): Promise<Client> {
  const seeds = (typeof addresses === 'string' ? [addresses] : addresses).map(normalizeAddress)
  if (seeds.length === 0) throw new OpenClusterError('OC_BAD_OPTION', 'no address to connect to')
  const settings = settle(options)
  const core = createCore(seeds, settings)
  core.router.openAll()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), settings.timeoutMs)
  })
  const first = await Promise.race([core.feeds.started, late])
  clearTimeout(timer)
  if (first === 'late') {
    const { trouble } = core.router
    await core.router.close()
    const reason = trouble === '' ? 'no answer' : trouble
    throw new OpenClusterError('OC_UNREACHABLE', `${seeds.join(', ')}: ${reason}`)
  }
  return new Client(core, settings)
}
