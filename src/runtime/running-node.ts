/**
 * A node as a process knows it: the deterministic node, its port and its links, put together, started and ended.
 * `startNode` of the package and `opencluster start` are both this.
 */
import { randomInt } from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { formatAddress, isWildcard } from '../config/address.js'
import { readSecret } from '../config/load.js'
import type { Settings } from '../config/options.js'
import { NO_BYTES } from '../core/bytes.js'
import { nodeName, type NodeName } from '../core/ids.js'
import { NODE_DEFAULTS, type NodeConfig } from '../node/config.js'
import type { NodeEvent } from '../node/outbox.js'
import { createClock, type Clock } from './clock.js'
import { Driver } from './driver.js'
import { Links } from './links.js'
import type { Fields, Log } from './log.js'
import { describeStatus, type Status } from './status.js'
import { TcpServer } from './tcp.js'

export interface RunningNode {
  readonly name: string
  /** Where clients and other nodes reach it: `HOST:PORT`. */
  readonly address: string
  status(): Status
  /** Hands its copies over to the others, then closes. */
  leave(options?: LeaveOptions): Promise<Departure>
  /** Stops at once; what only this node held is gone. */
  close(): Promise<void>
  /** Resolves when it has stopped, rejects when it broke one of its own rules. */
  readonly closed: Promise<void>
}

export interface LeaveOptions {
  readonly timeoutMs?: number
}

export interface Departure {
  /** Everything is elsewhere; otherwise the time was up. */
  readonly left: boolean
  /** What was still here. */
  readonly copies: number
}

export interface LaunchOptions {
  readonly settings: Settings
  readonly version: string
  readonly log: Log
  /** It votes and holds nothing. */
  readonly witness?: boolean
  /** Called while the node leaves, whoever asked it to. */
  readonly onLeaving?: (handedOver: number, total: number) => void
}

const SWEEP_MS = 500
const PROGRESS_MS = 100
/** How long replies and acknowledgements on their way may take once everything is handed over. */
const DRAIN_MS_MAX = 1000
/** The lease of a primary, as a part of `--dead-after-ms`. */
const LEASE_SHARE = 0.78
const SEED_MAX = 0xffff_ffff

/** Resolves when the node is part of a cluster and serves. */
export async function launch(options: LaunchOptions): Promise<RunningNode> {
  const { settings } = options
  const secret = settings.secretFile === undefined ? NO_BYTES : readSecretOf(settings.secretFile)
  const runtime = new Runtime(options, secret)
  try {
    await runtime.start()
  } catch (error) {
    await runtime.close()
    throw error
  }
  return runtime
}

function readSecretOf(path: string): Uint8Array {
  try {
    return readSecret(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`--secret-file ${path}: ${reason}`, { cause: error })
  }
}

class Runtime implements RunningNode {
  readonly closed: Promise<void>
  readonly #options: LaunchOptions
  readonly #secret: Uint8Array
  readonly #clock: Clock
  readonly #life: number
  readonly #moveKinds = new Map<number, string>()
  #name: NodeName = nodeName('unnamed')
  #address = ''
  #tcp: TcpServer | undefined
  #links: Links | undefined
  #driver: Driver | undefined
  #sweep: NodeJS.Timeout | undefined
  #lostSeen = 0
  #leaving: Promise<Departure> | undefined
  #mayGo: (() => void) | undefined
  #joined: { resolve(): void; reject(error: Error): void } | undefined
  #settle: { resolve(): void; reject(error: unknown): void } | undefined

  constructor(options: LaunchOptions, secret: Uint8Array) {
    this.#options = options
    this.#secret = secret
    this.#life = Date.now()
    this.#clock = createClock(this.#life)
    this.closed = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
    // Whoever does not look at it is not to be ended by it.
    this.closed.catch(() => undefined)
  }

  get name(): string {
    return this.#name
  }

  get address(): string {
    return this.#address
  }

  async start(): Promise<void> {
    const { settings, log } = this.#options
    const tcp = this.#createTcp()
    this.#tcp = tcp
    const port = await tcp
      .listen(isWildcard(settings.host) ? '' : settings.host, settings.port)
      .catch((error: unknown) => {
        throw describeListenError(error, settings)
      })
    this.#address =
      settings.advertise ?? formatAddress({ host: reachableHost(settings.host), port })
    this.#name = nodeName(settings.name ?? defaultName(port))
    const links = this.#createLinks()
    this.#links = links
    const driver = new Driver(this.#createConfig(), this.#clock, {
      send: (address, envelope) => links.send(address, envelope),
      output: (session, bytes) => tcp.output(session, bytes),
      hangUp: (session) => tcp.hangUp(session),
      pauseReading: (session) => tcp.pauseReading(session),
      resumeReading: (session) => tcp.resumeReading(session),
      event: (event) => this.#onEvent(event),
      endTurn: () => {
        tcp.flush()
        links.flush()
      },
      failed: (error) => this.#failed(error)
    })
    this.#driver = driver
    this.#sweep = setInterval(() => {
      tcp.sweep()
      links.sweep()
    }, SWEEP_MS)
    const joined = new Promise<void>((resolve, reject) => (this.#joined = { resolve, reject }))
    driver.start()
    if (driver.node.joined) this.#joined?.resolve()
    else log.info('joining', { name: this.#name, join: settings.join.join(',') })
    await joined
  }

  status(): Status {
    const node = this.#driver?.node
    if (node === undefined) throw new Error('the node has not started')
    const extras = {
      version: this.#options.version,
      lostSeen: this.#lostSeen,
      moveKinds: this.#moveKinds
    }
    return describeStatus(node, extras)
  }

  async leave(options: LeaveOptions = {}): Promise<Departure> {
    const departure = await this.#depart(options)
    await this.closed
    return departure
  }

  async close(): Promise<void> {
    if (this.#settle === undefined) return this.closed
    const settle = this.#settle
    this.#settle = undefined
    clearInterval(this.#sweep)
    this.#driver?.stop()
    this.#joined?.reject(new Error('the node was closed before it had joined'))
    await Promise.all([this.#tcp?.close(), this.#links?.close()])
    settle.resolve()
  }

  /** Closes only after whoever asked has been answered. */
  #depart(options: LeaveOptions): Promise<Departure> {
    this.#leaving ??= this.#handOver(options).finally(() => {
      setImmediate(() => void this.close())
    })
    return this.#leaving
  }

  async #handOver({ timeoutMs }: LeaveOptions): Promise<Departure> {
    const driver = this.#driver
    const { settings, log, onLeaving } = this.#options
    if (driver === undefined || !driver.node.joined || !this.#hasCompany()) {
      return { left: true, copies: 0 }
    }
    const held = (): number => driver.node.table.totalOf(driver.node.self)
    const total = held()
    const gone = new Promise<boolean>((resolve) => {
      this.#mayGo = () => resolve(true)
      const timer = setTimeout(() => resolve(false), timeoutMs ?? settings.leaveTimeout * 1000)
      void this.closed.then(() => clearTimeout(timer)).catch(() => clearTimeout(timer))
    })
    driver.leave()
    let shown = -1
    const show = (): void => {
      const handedOver = Math.max(0, total - held())
      if (handedOver === shown) return
      shown = handedOver
      onLeaving?.(handedOver, total)
    }
    const progress = setInterval(show, PROGRESS_MS)
    const left = await gone
    clearInterval(progress)
    show()
    const copies = held()
    if (left) await this.#drain(driver)
    else log.error('leaving took too long', { copies })
    return { left, copies }
  }

  /** Requests that were sent on come back, and the others hear that this node has left. */
  async #drain(driver: Driver): Promise<void> {
    this.#tcp?.retire()
    const untilMs = this.#clock.now() + DRAIN_MS_MAX
    while (driver.node.inspect().queuedBytes > 0 && this.#clock.now() < untilMs) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #hasCompany(): boolean {
    return this.status().nodes.some(
      ({ name, state }) => name !== this.#name && (state === 'alive' || state === 'leaving')
    )
  }

  #createTcp(): TcpServer {
    const { settings, log } = this.#options
    return new TcpServer({
      maxConnections: settings.maxConnections,
      clock: this.#clock,
      log,
      handlers: {
        open: (session) => this.#driver?.open(session),
        request: (session, bytes) => this.#driver?.request(session, bytes),
        close: (session) => this.#driver?.close(session),
        receive: (envelope) => this.#driver?.receive(envelope),
        wake: () => this.#driver?.wake()
      },
      admin: {
        name: () => this.#name,
        secret: this.#secret,
        log,
        status: () => this.status(),
        leave: () => this.#depart({}),
        forget: (name) => this.#driver?.forget(name),
        isOwn: (nonce) => this.#links?.isOwn(nonce) === true
      }
    })
  }

  #createLinks(): Links {
    const { log, settings } = this.#options
    return new Links({
      name: this.#name,
      secret: this.#secret,
      clock: this.#clock,
      log,
      onUp: (address) => this.#driver?.linkUp(address),
      onDown: (address) => this.#driver?.linkDown(address),
      onNameTaken: (address) => {
        if (!settings.join.includes(address) || this.#driver?.node.joined === true) return
        this.#joined?.reject(
          new Error(`${address} has a node named ${this.#name} already; give another --name`)
        )
      }
    })
  }

  #createConfig(): NodeConfig {
    const { settings } = this.#options
    const { join, copies, buckets, splitAt, hash, acks, zone, policy } = settings
    const { heartbeatMs, deadAfterMs } = settings
    return {
      ...NODE_DEFAULTS,
      ...{ join, copies, buckets, splitAt, hash, acks, zone, policy, heartbeatMs, deadAfterMs },
      weight: this.#options.witness === true ? 0 : settings.weight,
      // Over before a backup that hears nothing any more takes over: so it need not wait for it.
      leaseMs: Math.floor(deadAfterMs * LEASE_SHARE),
      name: this.#name,
      address: this.#address,
      life: this.#life,
      seed: randomInt(SEED_MAX),
      lostAfterMs: settings.lostAfter * 1000,
      // TCP loses nothing while it is up, and a new link is told to the node.
      retransmitMs: 0
    }
  }

  #onEvent(event: NodeEvent): void {
    switch (event.kind) {
      case 'mayGo':
        this.#mayGo?.()
        break
      case 'joined':
        if (event.node === this.#name) this.#joined?.resolve()
        break
      case 'lost':
        this.#lostSeen++
        break
      case 'stage':
        this.#moveKinds.set(event.bucket, event.role)
        break
      case 'peerError':
        // Said of itself: the cluster is not one this node can be in.
        if (event.node === this.#name) this.#joined?.reject(new Error(event.reason))
    }
    logEvent(this.#options.log, event)
  }

  #failed(error: unknown): void {
    const { log } = this.#options
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error('the node broke one of its own rules and stops', { error: text })
    const settle = this.#settle
    this.#settle = undefined
    clearInterval(this.#sweep)
    this.#tcp?.destroy()
    this.#links?.destroy()
    this.#joined?.reject(error instanceof Error ? error : new Error(text))
    settle?.reject(error)
  }
}

function logEvent(log: Log, event: NodeEvent): void {
  const { kind, ...rest } = event
  switch (kind) {
    case 'joined':
    case 'leaving':
    case 'left':
    case 'returned':
    case 'split':
    case 'voters':
      log.info(kind, rest as Fields)
      return
    case 'died':
      log.warn(kind, rest as Fields)
      return
    case 'lost':
      log.error('a bucket was lost with all its copies', rest as Fields)
      return
    case 'peerError': {
      const { node, reason } = event
      log.limited(`peer ${node} ${reason}`, 'does not understand a node', { node, reason })
      return
    }
    case 'row':
      log.debug(kind, { ...event, backups: event.backups.join(',') })
      return
    default:
      log.debug(kind, rest as Fields)
  }
}

/** The machine's own name and the port: the same after a restart, different on every node. */
function defaultName(port: number): string {
  const host = hostname()
    .split('.')[0]
    .replace(/[^A-Za-z0-9_-]/g, '-')
  return `${/^[A-Za-z0-9]/.test(host) ? host.slice(0, 50) : 'node'}-${port}`
}

/** Nobody can call 0.0.0.0: the first address of this machine that others may know. */
function reachableHost(host: string): string {
  if (!isWildcard(host)) return host
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(({ internal, family }) => !internal && family === 'IPv4')
    if (found !== undefined) return found.address
  }
  return hostname()
}

function describeListenError(error: unknown, { host, port }: Settings): Error {
  const code = (error as NodeJS.ErrnoException).code
  const address = formatAddress({ host, port })
  const what =
    code === 'EADDRINUSE'
      ? 'is taken by another process; give another --port, or 0 for any free one'
      : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
        ? 'is not an address of this machine'
        : code === 'EACCES'
          ? 'may not be listened on by this user'
          : String(error)
  return new Error(`${address} ${what}`, { cause: error })
}
