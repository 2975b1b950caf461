/**
 * A node as a process knows it: the deterministic node, its port and its links, put together, started and ended.
 * `startNode` of the package and `opencluster start` are both this.
 */
import { randomInt } from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { formatAddress, isWildcard, parseAddress } from '../config/address.js'
import { readSecret } from '../config/load.js'
import type { Settings } from '../config/options.js'
import { NO_BYTES } from '../core/bytes.js'
import { nodeName, type NodeName } from '../core/ids.js'
import { NODE_DEFAULTS, type NodeConfig } from '../node/config.js'
import type { Node } from '../node/node.js'
import type { NodeEvent } from '../node/outbox.js'
import type { Departure, Door, Health, NodeAccess, Observation } from './access.js'
import { createClock, type Clock } from './clock.js'
import { Driver } from './driver.js'
import { logEvent } from './event-log.js'
import { handOver } from './hand-over.js'
import { Journal } from './journal.js'
import { Latency } from './latency.js'
import { Links } from './links.js'
import { FIRST_LOCAL_SESSION, LocalClients, type LocalClient } from './local-clients.js'
import type { Log } from './log.js'
import { measureNode, Recorder } from './recorder.js'
import { composeReport, type Report, type Since } from './report.js'
import { describeBriefly, describeStatus, type Status, type StatusExtras } from './status.js'
import { TcpServer } from './tcp.js'
import { Totals } from './totals.js'

/** A node in this process. Made by `startNode`. */
export interface RunningNode {
  readonly name: string
  /** Where clients and other nodes reach it: `HOST:PORT`. */
  readonly address: string
  /** Where its HTTP door is, if it has one: `HOST:PORT`. */
  readonly http: string | null
  /** What this node knows of the cluster, as `opencluster status --json`. */
  status(): Status
  /** Hands its copies over to the others, then closes. */
  leave(options?: LeaveOptions): Promise<Departure>
  /** Stops at once; what only this node held is gone. */
  close(): Promise<void>
  /** Resolves when it has stopped, rejects when it broke one of its own rules. */
  readonly closed: Promise<void>
}

/** How long a node may take to hand its copies over. */
export interface LeaveOptions {
  readonly timeoutMs?: number
}

export type { Departure } from './access.js'

export interface LaunchOptions {
  readonly settings: Settings
  readonly version: string
  readonly log: Log
  /** It votes and holds nothing. */
  readonly witness?: boolean
  /** Called while the node leaves, whoever asked it to. */
  readonly onLeaving?: (handedOver: number, total: number) => void
  /** Opens the HTTP door as soon as the node can be asked, before it has joined. */
  readonly openHttp?: (node: NodeAccess) => Promise<Door>
}

const SWEEP_MS = 500
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

class Runtime implements RunningNode, NodeAccess {
  readonly closed: Promise<void>
  readonly #options: LaunchOptions
  readonly #secret: Uint8Array
  readonly #clock: Clock
  readonly #life: number
  readonly #latency = new Latency()
  readonly #totals = new Totals()
  readonly #journal = new Journal(() => this.#name)
  readonly #recorder: Recorder
  readonly #listeners = new Set<(event: NodeEvent) => void>()
  readonly #locals = new LocalClients({
    open: (session) => this.#driver?.open(session),
    request: (session, bytes) => this.#driver?.request(session, bytes),
    close: (session) => this.#driver?.close(session)
  })
  #name: NodeName = nodeName('unnamed')
  #address = ''
  #replicaAddress = ''
  #tcp: TcpServer | undefined
  #links: Links | undefined
  #driver: Driver | undefined
  #http: Door | undefined
  #sweep: NodeJS.Timeout | undefined
  #leaving: Promise<Departure> | undefined
  #mayGo: (() => void) | undefined
  #joined: { resolve(): void; reject(error: Error): void } | undefined
  #settle: { resolve(): void; reject(error: unknown): void } | undefined

  constructor(options: LaunchOptions, secret: Uint8Array) {
    this.#options = options
    this.#secret = secret
    this.#life = Date.now()
    this.#clock = createClock(this.#life)
    this.#recorder = new Recorder({
      measure: (timeMs) => measureNode(this.#driver?.node, timeMs),
      latency: this.#latency,
      takeStallMs: () => this.#driver?.takeStallMs() ?? 0,
      now: () => this.#clock.now()
    })
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

  get http(): string | null {
    return this.#http?.address ?? null
  }

  get version(): string {
    return this.#options.version
  }

  get settings(): Settings {
    return this.#options.settings
  }

  get log(): Log {
    return this.#options.log
  }

  now(): number {
    return this.#clock.now()
  }

  async start(): Promise<void> {
    const { settings, log, openHttp } = this.#options
    const tcp = this.#createTcp()
    this.#tcp = tcp
    const port = await tcp
      .listen(isWildcard(settings.host) ? '' : settings.host, settings.port)
      .catch((error: unknown) => {
        throw describeListenError(error, { ...settings, option: '--port' })
      })
    this.#address =
      settings.advertise ?? formatAddress({ host: reachableHost(settings.host), port })
    this.#name = nodeName(settings.name ?? defaultName(port))
    this.#replicaAddress = await this.#listenForReplica(tcp)
    const links = this.#createLinks()
    this.#links = links
    const driver = new Driver(this.#createConfig(), this.#clock, {
      send: (address, envelope) => links.send(address, envelope),
      output: (session, bytes) => {
        if (session === this.#latency.session) this.#latency.answered()
        if (session < FIRST_LOCAL_SESSION) tcp.output(session, bytes)
        else this.#locals.output(session, bytes)
      },
      hangUp: (session) => {
        if (session < FIRST_LOCAL_SESSION) tcp.hangUp(session)
        else this.#locals.hangUp(session)
      },
      unread: (session) => tcp.unread(session),
      pauseReading: (session) => tcp.pauseReading(session),
      resumeReading: (session) => tcp.resumeReading(session),
      event: (event) => this.#onEvent(event),
      writeReplies: () => tcp.flush(),
      endTurn: () => {
        tcp.flush()
        links.flush()
        this.#latency.written()
      },
      failed: (error) => this.#failed(error)
    })
    this.#driver = driver
    this.#sweep = setInterval(() => {
      tcp.sweep()
      links.sweep()
      log.sweep()
    }, SWEEP_MS)
    const joined = new Promise<void>((resolve, reject) => (this.#joined = { resolve, reject }))
    driver.start()
    this.#http = await openHttp?.(this)
    if (driver.node.joined) this.#joined?.resolve()
    else {
      const join = settings.join.join(',')
      log.info('joining', { name: this.#name, join, resp: this.#address, http: this.http ?? 'off' })
    }
    await joined
  }

  status(): Status {
    return describeStatus(this.#needNode(), this.#extras)
  }

  brief(): Omit<Status, 'buckets'> {
    return describeBriefly(this.#needNode(), this.#extras)
  }

  report(since: Since): Report {
    return composeReport(this.brief(), {
      plan: this.#needNode().counters.lastPlan?.reason ?? '',
      samples: this.#recorder.after(since.sample),
      entries: this.#journal.after(since.entry)
    })
  }

  get observation(): Observation {
    return {
      latency: this.#latency,
      totals: this.#totals,
      recorder: this.#recorder,
      connections: () => this.#tcp?.countConnections() ?? { client: 0, node: 0, other: 0 }
    }
  }

  get #extras(): StatusExtras {
    return { version: this.version, http: this.http, lostSeen: this.#totals.lost }
  }

  #needNode(): Node {
    const node = this.#driver?.node
    if (node === undefined) throw new Error('the node has not started')
    return node
  }

  health(): Health {
    const node = this.#driver?.node
    if (node?.joined !== true) {
      return { serving: false, state: 'joining', reason: 'it is not part of a cluster yet' }
    }
    if (this.#leaving !== undefined) {
      return { serving: false, state: 'leaving', reason: 'it hands its copies over to leave' }
    }
    if (!node.mayServe()) {
      const reason = 'it has not heard a majority of the voters for too long'
      return { serving: false, state: 'isolated', reason }
    }
    return { serving: true, state: 'serving', reason: '' }
  }

  perform<T>(act: (node: Node, now: number) => T): T | undefined {
    return this.#driver?.perform(act)
  }

  connect(): LocalClient {
    return this.#locals.open()
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  forget(name: string, force = false): string | undefined {
    return this.#driver?.forget(name, force)
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
    this.#recorder.stop()
    this.#driver?.stop()
    this.#joined?.reject(new Error('the node was closed before it had joined'))
    this.#locals.closeAll()
    await Promise.all([this.#http?.close(), this.#tcp?.close(), this.#links?.close()])
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
    return handOver({
      held: () => driver.node.table.totalOf(driver.node.self),
      begin: (gone) => {
        this.#mayGo = gone
        driver.leave()
      },
      timeoutMs: timeoutMs ?? settings.leaveTimeout * 1000,
      onLeaving,
      drain: () => this.#drain(driver),
      closed: this.closed,
      log
    })
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
        open: (session, origin) => this.#driver?.open(session, origin),
        request: (session, bytes) => {
          this.#latency.asked(session)
          this.#driver?.request(session, bytes)
        },
        close: (session) => {
          this.#latency.closed(session)
          this.#driver?.close(session)
        },
        receive: (envelope) => this.#driver?.receive(envelope),
        hearing: (peer) => this.#driver?.hearing(peer),
        wake: () => this.#driver?.wake()
      },
      admin: {
        name: () => this.#name,
        secret: this.#secret,
        log,
        status: () => this.status(),
        report: (since) => this.report(since),
        leave: () => this.#depart({}),
        forget: (name, force) => this.forget(name, force),
        isOwn: (nonce) => this.#links?.isOwn(nonce) === true
      }
    })
  }

  /** Where backups answer, at the host by which the node is known; empty if they do not. */
  async #listenForReplica(tcp: TcpServer): Promise<string> {
    const { settings } = this.#options
    const { host, replicaPort = 'off' } = settings
    if (replicaPort === 'off') return ''
    const port = await tcp
      .listenForReplica(isWildcard(host) ? '' : host, replicaPort)
      .catch((error: unknown) => {
        throw describeListenError(error, { host, port: replicaPort, option: '--replica-port' })
      })
    const known = parseAddress(this.#address)?.host ?? reachableHost(host)
    return formatAddress({ host: known, port })
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
    const { heartbeatMs, deadAfterMs, moveShare, maxMemory, eviction } = settings
    return {
      ...NODE_DEFAULTS,
      ...{ join, copies, buckets, splitAt, hash, acks, zone, policy, heartbeatMs, deadAfterMs },

      ...{ moveShare, maxMemory, eviction },
      weight: this.#options.witness === true ? 0 : settings.weight,
      // Over before a backup that hears nothing any more takes over: so it need not wait for it.
      leaseMs: Math.floor(deadAfterMs * LEASE_SHARE),
      name: this.#name,
      address: this.#address,
      replicaAddress: this.#replicaAddress,
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
      case 'peerError':
        // Said of itself: the cluster is not one this node can be in.
        if (event.node === this.#name) this.#joined?.reject(new Error(event.reason))
    }
    const now = this.#clock.now()
    const peers = this.#driver?.node.peers
    this.#totals.note(event, (name) => now - (peers?.get(nodeName(name))?.lastHeardMs ?? now))
    this.#journal.note(event, now)
    logEvent(this.#options.log, event)
    for (const listener of this.#listeners) listener(event)
  }

  #failed(error: unknown): void {
    const { log } = this.#options
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error('the node broke one of its own rules and stops', { error: text })
    const settle = this.#settle
    this.#settle = undefined
    clearInterval(this.#sweep)
    this.#recorder.stop()
    this.#locals.closeAll()
    void this.#http?.close()
    this.#tcp?.destroy()
    this.#links?.destroy()
    this.#joined?.reject(error instanceof Error ? error : new Error(text))
    settle?.reject(error)
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

function describeListenError(
  error: unknown,
  { host, port, option }: { host: string; port: number; option: string }
): Error {
  const code = (error as NodeJS.ErrnoException).code
  const address = formatAddress({ host, port })
  const what =
    code === 'EADDRINUSE'
      ? `is taken by another process; give another ${option}, or 0 for any free one`
      : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
        ? 'is not an address of this machine'
        : code === 'EACCES'
          ? 'may not be listened on by this user'
          : String(error)
  return new Error(`${address} ${what}`, { cause: error })
}
