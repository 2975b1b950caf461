/** What a client has said about itself and how it wants to be treated. */

/** Whether it wants replies: all, none, none to the next command only. */
export type ReplyMode = 'on' | 'off' | 'skip'

/** Where a client comes from and by which port, as far as the driver knows. */
export interface Origin {
  /** `HOST:PORT` of the client, and of the end it is connected to. */
  readonly from: string
  readonly to: string
  /** It came by the port at which backups answer. */
  readonly asReplica: boolean
}

export const NO_ORIGIN: Origin = { from: '?:0', to: '', asReplica: false }

/** A command that waits for EXEC. */
export interface Queued {
  readonly request: Uint8Array
  /** Of its keys; undefined if it has none. */
  readonly hash: number | undefined
  readonly write: boolean
}

export interface Watched {
  readonly key: Uint8Array
  readonly version: string
}

export class Transaction {
  readonly queued: Queued[] = []
  /** Something could not be kept: EXEC will say so. */
  failed = false
}

/** What it listens to. */
export class Subscriptions {
  readonly channels = new Set<string>()
  readonly patterns = new Set<string>()
  readonly shards = new Set<string>()

  get total(): number {
    return this.channels.size + this.patterns.size + this.shards.size
  }
}

/** How it wants to hear that what it cached is old. */
export class ClientTracking {
  /** The client that hears it instead; 0: itself. */
  readonly redirect: number
  /** Of everything with a prefix, whether it was read or not. */
  readonly bcast: boolean
  readonly optIn: boolean
  readonly optOut: boolean
  /** Not of its own writes. */
  readonly noLoop: boolean
  readonly prefixes: readonly string[]
  /** What it said of its next command. */
  caching: 'yes' | 'no' | undefined
  /** It was told that the client it redirects to is gone. */
  broken = false

  constructor(
    options: Pick<ClientTracking, 'redirect' | 'bcast' | 'optIn' | 'optOut' | 'noLoop' | 'prefixes'>
  ) {
    this.redirect = options.redirect
    this.bcast = options.bcast
    this.optIn = options.optIn
    this.optOut = options.optOut
    this.noLoop = options.noLoop
    this.prefixes = options.prefixes
  }

  /** Whether it caches what its next command reads; that is over then. */
  takeCaching(): boolean {
    const { caching } = this
    this.caching = undefined
    if (this.bcast) return false
    return this.optIn ? caching === 'yes' : !(this.optOut && caching === 'no')
  }
}

export class ClientState {
  name = ''
  libraryName = ''
  libraryVersion = ''
  replies: ReplyMode = 'on'
  noEvict = false
  noTouch = false
  /** The last command that was not executed just like that. */
  lastCommand = 'NULL'
  /** Between MULTI and EXEC. */
  transaction: Transaction | undefined
  watched: Watched[] | undefined
  /** It asked for the topology, so it is told where keys are instead of being served from elsewhere. */
  clusterAware = false
  /** It is content with what backups have, where they answer. */
  readsCopies = false
  /** Undefined if it listens to nothing. */
  subscriptions: Subscriptions | undefined
  /** Undefined if it caches nothing. */
  tracking: ClientTracking | undefined

  /** As it was when it connected; what it is called by others in lists stays. */
  reset(): void {
    this.name = ''
    this.replies = 'on'
    this.noEvict = false
    this.noTouch = false
    this.transaction = undefined
    this.watched = undefined
    this.clusterAware = false
    this.readsCopies = false
  }
}
