/**
 * A node of a ring as a process knows it: the deterministic node, its port for other nodes, its links and its HTTP
 * door. The door opens before the node joins, since the node's virtual nodes are named after its URL.
 */
import { randomInt } from 'node:crypto'
import { isWildcard, formatAddress, parseAddress } from '../config/address.js'
import { readSecret } from '../config/load.js'
import type { Settings } from '../config/options.js'
import { NO_BYTES } from '../core/bytes.js'
import { nodeName, type NodeName } from '../core/ids.js'
import { virtualPositions } from '../core/placement/ring.js'
import { RING_DEFAULTS, type RingNodeConfig } from '../node/ring/config.js'
import type { RingInspection } from '../node/ring/inspection.js'
import type { RingAnswer, RingEvent, RingRequest } from '../node/ring/outbox.js'
import type { ScanRequest } from '../node/ring/scans.js'
import type { Departure, Door, Health } from './access.js'
import { createClock, type Clock } from './clock.js'
import { handOver } from './hand-over.js'
import { Journal } from './journal.js'
import { Latency } from './latency.js'
import { Links } from './links.js'
import type { Fields, Log } from './log.js'
import { Recorder, type Measured } from './recorder.js'
import { composeReport, type Report, type Since } from './report.js'
import { RingDisk } from './ring-disk.js'
import { RingDriver } from './ring-driver.js'
import { RingResp } from './ring-resp.js'
import { describeRingStatus, type RingStatus } from './ring-status.js'
import type { LeaveOptions } from './running-node.js'
import { TcpServer } from './tcp.js'

/** What the HTTP door may do with the node. */
export interface RingAccess {
  readonly name: string
  readonly version: string
  readonly log: Log
  readonly latency: Latency
  /** When the process began, and the time, both in milliseconds. */
  readonly life: number
  now(): number
  health(): Health
  status(): RingStatus
  /** For the page: the last minutes and what happened. */
  report(since: Since): Report
  readonly connections: () => Readonly<Record<'client' | 'node' | 'other', number>>
  /** How many nodes can hold a record; 0 before it has joined. */
  readonly size: number
  request(request: Omit<RingRequest, 'id'>): Promise<RingAnswer>
  /** A batch of a node's records; undefined if it cannot be asked. */
  scan(
    range: Omit<ScanRequest, 'onBatch'>
  ): Promise<{ payload: Uint8Array; done: boolean } | undefined>
  inspect(): RingInspection | undefined
  leave(): Promise<Departure>
  forget(name: string): string | undefined
  /** Other positions for this node. */
  place(positions: readonly number[]): void
}

export interface RingLaunchOptions {
  readonly settings: Settings
  readonly version: string
  readonly log: Log
  readonly onLeaving?: (handedOver: number, total: number) => void
  readonly openHttp: (node: RingAccess) => Promise<Door>
}

export interface RunningRingNode {
  readonly name: string
  /** Where other nodes reach it. */
  readonly address: string
  readonly http: string | null
  leave(options?: LeaveOptions): Promise<Departure>
  close(): Promise<void>
  readonly closed: Promise<void>
}

const SWEEP_MS = 500
/** How long the others may take to hear that it has left. */
const LINGER_MS = 300
const SEED_MAX = 0xffff_ffff

/** Resolves when the node is part of a ring and serves. */
export async function launchRing(options: RingLaunchOptions): Promise<RunningRingNode> {
  const runtime = new RingRuntime(options)
  try {
    await runtime.start()
  } catch (error) {
    await runtime.close()
    throw error
  }
  return runtime
}

class RingRuntime implements RunningRingNode, RingAccess {
  readonly closed: Promise<void>
  readonly #options: RingLaunchOptions
  readonly #secret: Uint8Array
  readonly #life = Date.now()
  readonly #clock: Clock
  readonly #answers = new Map<number, (answer: RingAnswer) => void>()
  readonly #resp: RingResp
  readonly latency = new Latency()
  readonly #recorder: Recorder
  readonly #journal = new Journal(() => this.#name)
  #answered: (() => void)[] = []
  #disk: RingDisk | undefined
  #name: NodeName = nodeName('unnamed')
  #address = ''
  #tcp: TcpServer | undefined
  #links: Links | undefined
  #driver: RingDriver | undefined
  #http: Door | undefined
  #sweep: NodeJS.Timeout | undefined
  #requests = 0
  #members: readonly NodeName[] | undefined
  #leaving: Promise<Departure> | undefined
  #mayGo: (() => void) | undefined
  #joined: { resolve(): void; reject(error: Error): void } | undefined
  #settle: { resolve(): void; reject(error: unknown): void } | undefined

  constructor(options: RingLaunchOptions) {
    this.#options = options
    const { secretFile } = options.settings
    this.#secret = secretFile === undefined ? NO_BYTES : readSecret(secretFile)
    this.#clock = createClock(this.#life)
    this.#recorder = new Recorder({
      measure: () => measureRing(this.inspect()),
      latency: this.latency,
      takeStallMs: () => this.#driver?.takeStallMs() ?? 0,
      now: () => this.#clock.now()
    })
    this.#resp = new RingResp({
      version: options.version,
      name: () => this.#name,
      items: () => this.#driver?.node.records.items ?? 0,
      request: (request) => this.request(request),
      output: (session, bytes) => {
        this.#tcp?.output(session, bytes)
        this.#driver?.wake()
      },
      hangUp: (session) => this.#tcp?.hangUp(session)
    })
    this.closed = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
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

  get log(): Log {
    return this.#options.log
  }

  get size(): number {
    return this.#driver?.node.size ?? 0
  }

  get version(): string {
    return this.#options.version
  }

  get life(): number {
    return this.#life
  }

  now(): number {
    return this.#clock.now()
  }

  health(): Health {
    const node = this.#driver?.node
    if (node?.joined !== true) {
      return { serving: false, state: 'joining', reason: 'it is not part of a ring yet' }
    }
    if (this.#leaving !== undefined) {
      return { serving: false, state: 'leaving', reason: 'it hands its records over to leave' }
    }
    if (!node.mayRead) {
      return { serving: false, state: 'joining', reason: 'it fetches what it may have missed' }
    }
    return { serving: true, state: 'serving', reason: '' }
  }

  status(): RingStatus {
    const node = this.#driver?.node
    if (node === undefined) throw new Error('the node has not started')
    const { version } = this
    return describeRingStatus(node.inspect(), {
      version,
      http: this.http,
      cluster: node.peers.cluster
    })
  }

  report(since: Since): Report {
    return composeReport(this.status(), {
      plan: '',
      samples: this.#recorder.after(since.sample),
      entries: this.#journal.after(since.entry)
    })
  }

  readonly connections = (): Readonly<Record<'client' | 'node' | 'other', number>> =>
    this.#tcp?.countConnections() ?? { client: 0, node: 0, other: 0 }

  async start(): Promise<void> {
    const { settings, log, openHttp } = this.#options
    const tcp = this.#createTcp()
    this.#tcp = tcp
    const host = isWildcard(settings.host) ? '' : settings.host
    const port = await tcp.listen(host, settings.port)
    this.#address = settings.advertise ?? formatAddress({ host: settings.host, port })
    const http = await openHttp(this)
    this.#http = http
    const httpPort = parseAddress(http.address)?.port ?? port
    this.#name = nodeName(settings.name ?? `ring-${httpPort}`)
    const links = this.#createLinks()
    this.#links = links
    if (settings.dataDir !== undefined) this.#disk = new RingDisk(settings.dataDir)
    const driver = new RingDriver(this.#createConfig(http.address), this.#clock, {
      disk: this.#disk,
      send: (address, envelope) => links.send(address, envelope),
      // Told at the end of the turn, when the disk has what was answered.
      answer: (id, answer) => {
        const resolve = this.#answers.get(id)
        this.#answers.delete(id)
        if (resolve !== undefined) this.#answered.push(() => resolve(answer))
        if (id === this.latency.session) this.latency.answered()
      },
      event: (event) => this.#onEvent(event),
      endTurn: () => {
        const answered = this.#answered
        this.#answered = []
        for (const tell of answered) tell()
        this.latency.written()
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
    driver.perform((node, now) => node.start(now))
    if (!driver.node.joined) log.info('joining', { name: this.#name, join: settings.join.join() })
    await joined
  }

  request(request: Omit<RingRequest, 'id'>): Promise<RingAnswer> {
    const id = ++this.#requests
    return new Promise((resolve) => {
      this.#answers.set(id, resolve)
      const driver = this.#driver
      if (driver === undefined) {
        this.#answers.delete(id)
        resolve({ status: 504, reason: 'the node is not part of a ring yet' })
      } else {
        this.latency.asked(id)
        driver.perform((node, now) => node.request({ ...request, id }, now))
      }
    })
  }

  scan(
    range: Omit<ScanRequest, 'onBatch'>
  ): Promise<{ payload: Uint8Array; done: boolean } | undefined> {
    return new Promise((resolve) => {
      const driver = this.#driver
      if (driver === undefined) resolve(undefined)
      else driver.perform((node, now) => node.scan({ ...range, onBatch: resolve }, now))
    })
  }

  inspect(): RingInspection | undefined {
    return this.#driver?.node.inspect()
  }

  forget(name: string): string | undefined {
    return this.#driver?.perform((node, now) => node.forget(name, now))
  }

  place(positions: readonly number[]): void {
    this.#driver?.perform((node, now) => node.place(positions, now))
  }

  async leave(options: LeaveOptions = {}): Promise<Departure> {
    this.#leaving ??= this.#handOver(options).finally(() => setImmediate(() => void this.close()))
    return this.#leaving
  }

  async close(): Promise<void> {
    if (this.#settle === undefined) return this.closed
    const settle = this.#settle
    this.#settle = undefined
    clearInterval(this.#sweep)
    this.#recorder.stop()
    this.#driver?.stop()
    this.#joined?.reject(new Error('the node was closed before it had joined'))
    for (const resolve of this.#answers.values()) {
      resolve({ status: 504, reason: 'the node has stopped' })
    }
    this.#answers.clear()
    await Promise.all([this.#http?.close(), this.#tcp?.close(), this.#links?.close()])
    this.#disk?.close()
    settle.resolve()
  }

  async #handOver({ timeoutMs }: LeaveOptions): Promise<Departure> {
    const driver = this.#driver
    const { settings, log, onLeaving } = this.#options
    if (driver?.node.joined !== true) return { left: true, copies: 0 }
    return handOver({
      held: () => driver.node.records.count,
      begin: (gone) => {
        this.#mayGo = gone
        driver.perform((node, now) => node.leave(now))
      },
      timeoutMs: timeoutMs ?? settings.leaveTimeout * 1000,
      onLeaving,
      drain: () => new Promise((resolve) => setTimeout(resolve, LINGER_MS)),
      closed: this.closed,
      log
    })
  }

  #createTcp(): TcpServer {
    const { settings, log } = this.#options
    return new TcpServer({
      maxConnections: settings.maxConnections,
      clock: this.#clock,
      log,
      handlers: {
        open: () => undefined,
        request: (session, bytes) => this.#resp.take(session, bytes),
        close: (session) => this.#resp.close(session),
        receive: (envelope) => {
          this.#driver?.perform((node, now) => node.receive(envelope, now))
        },
        hearing: (peer) => this.#driver?.perform((node, now) => node.peers.hearing(peer, now)),
        wake: () => this.#driver?.wake()
      },
      admin: {
        name: () => this.#name,
        secret: this.#secret,
        log,
        status: () => this.status(),
        report: (since) => this.report(since),
        leave: () => this.leave(),
        forget: (name) => this.forget(name),
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
      onUp: (address) => this.#driver?.perform((node, now) => node.linkUp(address, now)),
      onDown: (address) => this.#driver?.perform((node, now) => node.linkDown(address, now)),
      onNameTaken: (address) => {
        if (!settings.join.includes(address) || this.#driver?.node.joined === true) return
        const reason = `${address} has a node named ${this.#name} already; give another --name`
        this.#joined?.reject(new Error(reason))
      }
    })
  }

  #createConfig(httpAddress: string): RingNodeConfig {
    const { settings } = this.#options
    const { join, copies, zone, heartbeatMs, deadAfterMs, vnodes, positions } = settings
    const url = `http://${httpAddress}`
    return {
      ...RING_DEFAULTS,
      ...{ join, copies, zone, heartbeatMs, deadAfterMs, url },
      positions: positions.length > 0 ? positions.map(Number) : virtualPositions(url, vnodes),
      name: this.#name,
      address: this.#address,
      life: this.#life,
      seed: randomInt(SEED_MAX),
      // TCP loses nothing while it is up, and a new link is told to the node.
      retransmitMs: 0
    }
  }

  #onEvent(event: RingEvent): void {
    const { log } = this.#options
    const { kind, ...rest } = event
    this.#note(event)
    switch (event.kind) {
      case 'mayGo':
        this.#mayGo?.()
        return
      case 'joined':
        if (event.node === this.#name) this.#joined?.resolve()
        log.info(kind, rest as Fields)
        return
      case 'peerError':
        // Said of itself: the cluster is not one this node can be in.
        if (event.node === this.#name) this.#joined?.reject(new Error(event.reason))
        log.limited(`peer ${event.node} ${event.reason}`, 'does not understand a node', {
          node: event.node,
          reason: event.reason
        })
        return
      case 'ring':
        log.info(kind, { ...event, members: event.members.join() })
        return
      case 'died':
        log.warn(kind, rest as Fields)
        return
      default:
        log.info(kind, rest as Fields)
    }
  }

  /** Nodes tell only of themselves that they came or went; of the others the configuration says it. */
  #note(event: RingEvent): void {
    const now = this.#clock.now()
    this.#journal.note(event, now)
    if (event.kind !== 'ring') return
    const { members } = event
    const before = this.#members ?? members
    this.#members = members
    for (const node of members) {
      if (!before.includes(node)) this.#journal.note({ kind: 'joined', node }, now)
    }
    for (const node of before) {
      if (!members.includes(node)) this.#journal.note({ kind: 'left', node }, now)
    }
  }

  #failed(error: unknown): void {
    const { log } = this.#options
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error('the node broke one of its own rules and stops', { error: text })
    const settle = this.#settle
    this.#settle = undefined
    clearInterval(this.#sweep)
    this.#recorder.stop()
    this.#tcp?.destroy()
    this.#links?.destroy()
    void this.#http?.close()
    this.#joined?.reject(error instanceof Error ? error : new Error(text))
    settle?.reject(error)
  }
}

function measureRing(inspection: RingInspection | undefined): Measured | undefined {
  if (inspection === undefined) return undefined
  const { requests, received, usedBytes, items, pending, unacknowledged } = inspection
  return {
    operations: requests.get + requests.put + requests.delete,
    // Whoever gets a share fetches it, so what came is what moved.
    shipped: received,
    storeBytes: usedBytes,
    items,
    lagBytes: Math.max(0, ...unacknowledged.values()),
    lagMs: 0,
    held: pending
  }
}
