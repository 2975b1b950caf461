/**
 * A few nodes in one process with virtual time: what a test needs to look at one behaviour at a time. Messages
 * arrive after a short time and in order, unless a link is cut; clients talk to their node without delay.
 * The simulator is for everything that is drawn by chance; here every test says what happens.
 */
import { latin1Bytes } from '../../src/core/bytes.js'
import { redisHash } from '../../src/core/hash/placement-hash.js'
import { nodeName } from '../../src/core/ids.js'
import { Random } from '../../src/core/random.js'
import { NODE_DEFAULTS, type NodeConfig } from '../../src/node/config.js'
import { Node } from '../../src/node/node.js'
import type { Origin } from '../../src/node/door/client-state.js'
import type { NodeEvent } from '../../src/node/outbox.js'
import type { BucketState } from '../../src/node/bucket-state.js'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import { encodeArguments } from '../../src/wire/resp/request-writer.js'

export type Settings = Partial<Omit<NodeConfig, 'name' | 'address'>>

export function configOf(name: string, settings: Settings = {}): NodeConfig {
  const seed = Array.from(name).reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7)
  const own = { name: nodeName(name), address: name, life: 1, seed, buckets: 16, splitAt: 0 }
  return { ...NODE_DEFAULTS, ...own, ...settings }
}

/** Nobody needs so many events for one virtual second of a few nodes; more is a storm. */
const EVENTS_A_RUN_MAX = 2_000_000
/** A deadline that has passed is met this much later. */
const WAKE_MS_MIN = 0.1

export class MiniClient {
  readonly session: number
  readonly at: MiniNode
  readonly replies: ReplyValue[] = []
  readonly pushes: ReplyValue[][] = []
  /** Replies and pushes as they came. */
  readonly seen: (ReplyValue | { readonly push: ReplyValue[] })[] = []
  hungUp = false
  /** The node does not want to read from it for now. */
  paused = false
  /** What it has not read, as its node is told. */
  unread = 0
  readonly #cluster: MiniCluster
  readonly #parser = new ReplyParser({
    onReply: (value) => {
      this.replies.push(value)
      this.seen.push(value)
    },
    onPush: (items) => {
      this.pushes.push(items)
      this.seen.push({ push: items })
    }
  })

  constructor(cluster: MiniCluster, at: MiniNode, session: number, origin?: Origin) {
    this.#cluster = cluster
    this.at = at
    this.session = session
    at.input((node, now) => node.open(session, now, origin))
  }

  output(bytes: Uint8Array): void {
    this.#parser.push(bytes.slice())
  }

  /** Does not wait. */
  send(...words: string[]): void {
    this.sendRaw(encodeArguments(words.map(latin1Bytes)))
  }

  sendRaw(bytes: Uint8Array): void {
    this.at.input((node, now) => node.request(this.session, bytes, now))
  }

  /** Sends and lets time pass until the reply is there. */
  call(...words: string[]): ReplyValue {
    const before = this.replies.length
    this.send(...words)
    this.#cluster.runUntil(() => this.replies.length > before, 20_000, words.join(' '))
    return this.replies[before]
  }

  close(): void {
    this.at.input((node, now) => node.close(this.session, now))
  }
}

export class MiniNode {
  readonly name: string
  readonly events: NodeEvent[] = []
  readonly clients = new Map<number, MiniClient>()
  node: Node
  state: 'running' | 'paused' | 'dead' = 'running'
  /** When it must be woken. */
  wakeMs = Infinity
  backlog: ((node: Node, now: number) => void)[] = []
  readonly #cluster: MiniCluster

  constructor(cluster: MiniCluster, config: NodeConfig) {
    this.name = config.name
    this.#cluster = cluster
    this.node = this.#create(config)
  }

  /** A new process of the same name, with nothing in memory. */
  reboot(config: NodeConfig): void {
    this.node = this.#create(config)
    this.state = 'running'
    this.backlog = []
    this.clients.clear()
    this.input((node, now) => node.start(now))
  }

  #create(config: NodeConfig): Node {
    const node: Node = new Node(config, {
      send: (address, envelope) => this.#cluster.post(this.name, address, envelope.slice()),
      output: (session, bytes) => this.clients.get(session)?.output(bytes),
      hangUp: (session) => {
        const client = this.clients.get(session)
        if (client !== undefined) client.hungUp = true
      },
      unread: (session) => this.clients.get(session)?.unread ?? 0,
      pauseReading: (session) => this.#setPaused(session, true),
      resumeReading: (session) => this.#setPaused(session, false),
      event: (event) => {
        this.events.push(event)
        this.#cluster.onEvent?.(this, event)
      }
    })
    return node
  }

  #setPaused(session: number, paused: boolean): void {
    const client = this.clients.get(session)
    if (client !== undefined) client.paused = paused
  }

  /** One turn. */
  input(act: (node: Node, now: number) => void): void {
    if (this.state === 'dead') return
    if (this.state === 'paused') {
      this.backlog.push(act)
      return
    }
    const { now } = this.#cluster
    act(this.node, now)
    this.node.flush(now)
    this.wakeMs = Math.max(this.node.unfinished ? now : this.node.deadline, now + WAKE_MS_MIN)
  }

  pause(): void {
    this.state = 'paused'
  }

  /** Learns how late it is, then gets what came in meanwhile. */
  resume(): void {
    this.state = 'running'
    const backlog = this.backlog
    this.backlog = []
    this.input((node, now) => node.tick(now))
    for (const act of backlog) this.input(act)
  }

  kill(): void {
    this.state = 'dead'
    this.backlog = []
  }

  get held(): BucketState[] {
    return this.node.buckets.filter((state) => state !== undefined)
  }

  get primaries(): number[] {
    return this.held.filter(({ role }) => role === 'primary').map(({ id }) => id)
  }

  get backups(): number[] {
    return this.held.filter(({ role }) => role === 'backup').map(({ id }) => id)
  }

  eventsOf<K extends NodeEvent['kind']>(kind: K): Extract<NodeEvent, { kind: K }>[] {
    return this.events.filter((event) => event.kind === kind) as Extract<NodeEvent, { kind: K }>[]
  }

  stagesOf(bucket: number): string[] {
    return this.eventsOf('stage')
      .filter((event) => event.bucket === bucket)
      .map(({ stage }) => stage)
  }
}

interface Parcel {
  readonly time: number
  readonly to: string
  readonly envelope: Uint8Array
}

export class MiniCluster {
  now = 1_000_000
  readonly nodes = new Map<string, MiniNode>()
  /** For tests that act at a certain moment. */
  onEvent: ((at: MiniNode, event: NodeEvent) => void) | undefined
  /** Sees every envelope before it is on its way; false loses it. */
  onPost: ((from: string, to: string, envelope: Uint8Array) => boolean) | undefined
  posted = 0
  readonly #settings: Settings
  readonly #delayMs: number
  readonly #jitterMs: number
  readonly #random = new Random(1)
  /** When the last parcel of each link arrives: none overtakes another. */
  readonly #arrivals = new Map<string, number>()
  readonly #cut = new Set<string>()
  #parcels: Parcel[] = []
  #nextSession = 1

  constructor(settings: Settings = {}, link: { delayMs?: number; jitterMs?: number } = {}) {
    this.#settings = settings
    this.#delayMs = link.delayMs ?? 1
    this.#jitterMs = link.jitterMs ?? 0.5
  }

  /** Starts a node; every one but the first joins the first, unless told otherwise. */
  start(name: string, settings: Settings = {}): MiniNode {
    const first = [...this.nodes.keys()].find((known) => known !== name)
    const join = first === undefined ? [] : [first]
    const config = configOf(name, { life: this.now, join, ...this.#settings, ...settings })
    const known = this.nodes.get(name)
    if (known !== undefined) {
      known.reboot(config)
      return known
    }
    const node = new MiniNode(this, config)
    this.nodes.set(name, node)
    node.input((it, now) => it.start(now))
    return node
  }

  /** Starts these and waits until they are balanced. */
  startAll(...names: string[]): MiniNode[] {
    const nodes = names.map((name) => this.start(name))
    this.balance()
    return nodes
  }

  client(at: MiniNode, origin?: Origin): MiniClient {
    const client = new MiniClient(this, at, this.#nextSession++, origin)
    at.clients.set(client.session, client)
    return client
  }

  cut(one: string, other: string): void {
    this.#cut.add(`${one}>${other}`).add(`${other}>${one}`)
  }

  cutOneWay(from: string, to: string): void {
    this.#cut.add(`${from}>${to}`)
  }

  heal(): void {
    this.#cut.clear()
  }

  post(from: string, to: string, envelope: Uint8Array): void {
    this.posted++
    if (this.#cut.has(`${from}>${to}`) || this.onPost?.(from, to, envelope) === false) return
    const link = `${from}>${to}`
    const soonest = this.now + this.#delayMs + this.#random.fraction() * this.#jitterMs
    const time = Math.max(soonest, this.#arrivals.get(link) ?? 0)
    this.#arrivals.set(link, time)
    let place = this.#parcels.length
    while (place > 0 && this.#parcels[place - 1].time > time) place--
    this.#parcels.splice(place, 0, { time, to, envelope })
  }

  /** As if it came from another node. */
  inject(to: string, envelope: Uint8Array): void {
    this.nodes.get(to)?.input((node, now) => node.receive(envelope, now))
  }

  run(ms: number): void {
    const end = this.now + ms
    let events = 0
    while (this.#step(end)) {
      if (++events > EVENTS_A_RUN_MAX) throw new Error(`no end of events at ${this.now}`)
    }
    this.now = end
  }

  runUntil(condition: () => boolean, limitMs = 20_000, what = String(condition)): void {
    const end = this.now + limitMs
    while (!condition()) {
      if (!this.#step(end)) throw new Error(`not within ${limitMs} ms: ${what}`)
    }
  }

  /** Waits until every bucket has its copies, counts differ by at most one, and nobody moves anything. */
  balance(limitMs = 60_000): void {
    this.runUntil(() => this.#isBalanced(), limitMs, 'a balanced cluster')
  }

  get running(): MiniNode[] {
    return [...this.nodes.values()].filter(({ state }) => state === 'running')
  }

  /** The node that is primary of a key's bucket, by its own word. */
  primaryOf(key: string): MiniNode {
    const found = this.running.find(({ node }) => this.stateOf(key, node)?.role === 'primary')
    if (found === undefined) throw new Error(`nobody is primary of ${key}`)
    return found
  }

  backupOf(key: string): MiniNode {
    const found = this.running.find(({ node }) => this.stateOf(key, node)?.role === 'backup')
    if (found === undefined) throw new Error(`nobody is backup of ${key}`)
    return found
  }

  stateOf(key: string, node: Node): BucketState | undefined {
    return node.buckets[redisHash.hash(latin1Bytes(key), 0, key.length) & node.table.mask]
  }

  /** Keys that this node is primary of. */
  keysOn(at: MiniNode, count: number): string[] {
    const keys: string[] = []
    for (let i = 0; keys.length < count; i++) {
      const key = `key:${i}`
      if (this.stateOf(key, at.node)?.role === 'primary') keys.push(key)
      if (i > 100_000) throw new Error(`${at.name} is primary of nothing`)
    }
    return keys
  }

  /** Complaints about copies that are not equal, or missing, moves under way aside; none is right. */
  differences(copies = 2): string[] {
    const found: string[] = []
    const any = this.running[0]
    for (let bucket = 0; bucket <= any.node.table.mask; bucket++) {
      const held = this.running.flatMap(({ name, node }) => {
        const state = node.buckets[bucket]
        return state === undefined || state.role === 'incoming' ? [] : [{ name, state }]
      })
      const primaries = held.filter(({ state }) => state.role === 'primary')
      if (primaries.length !== 1) found.push(`bucket ${bucket}: ${primaries.length} primaries`)
      if (held.length !== copies) found.push(`bucket ${bucket}: ${held.length} copies`)
      const digests = new Set(held.map(({ state }) => String(state.items.digest(false))))
      if (digests.size > 1) found.push(`bucket ${bucket}: copies differ`)
      const numbers = new Set(held.map(({ state }) => state.seq))
      if (numbers.size > 1) found.push(`bucket ${bucket}: write numbers differ`)
    }
    return found
  }

  #isBalanced(): boolean {
    const nodes = this.running.map(({ node }) => node)
    const [first] = nodes
    if (nodes.some((node) => !node.joined || node.inspect().moves.length > 0)) return false
    if (nodes.some((node) => node.table.digest() !== first.table.digest())) return false
    const staying = nodes.filter((node) => first.members.get(node.config.name)?.state !== 'leaving')
    if (first.table.rowsBelow(Math.min(2, staying.length)) > 0) return false
    const spread = (counts: number[]): number => Math.max(...counts) - Math.min(...counts)
    const held = staying.map((node) => this.nodes.get(node.config.name)?.held ?? [])
    if (held.some((states) => states.some(({ role }) => role === 'incoming'))) return false
    const primaries = held.map((states) => states.filter(({ role }) => role === 'primary').length)
    return spread(held.map(({ length }) => length)) <= 1 && spread(primaries) <= 1
  }

  /** The next thing that happens before `end`; false if nothing does. */
  #step(end: number): boolean {
    const parcel = this.#parcels.at(0)
    let waking: MiniNode | undefined
    for (const node of this.nodes.values()) {
      if (node.state !== 'running') continue
      if (node.wakeMs < (waking?.wakeMs ?? Infinity)) waking = node
    }
    if (parcel !== undefined && parcel.time <= (waking?.wakeMs ?? Infinity)) {
      if (parcel.time > end) return false
      this.now = Math.max(this.now, parcel.time)
      this.#parcels.shift()
      this.inject(parcel.to, parcel.envelope)
      return true
    }
    if (waking === undefined || waking.wakeMs > end) return false
    this.now = Math.max(this.now, waking.wakeMs)
    waking.wakeMs = Infinity
    waking.input((node, now) => node.tick(now))
    return true
  }
}
