/**
 * What a command costs inside a node: writing small SETs into a batch for a backup and executing it there,
 * the same through two whole nodes wired to each other, and GET and SET by pipelines on one node alone. Keys
 * have 20 bytes, values 64. No sockets and no timers: a turn is a request and a flush.
 *
 *   node dist/bench/micro/replication.js [writes]
 */
import { pathToFileURL } from 'node:url'
import { Call } from '../../src/commands/call.js'
import { assert } from '../../src/core/assert.js'
import { latin1Bytes } from '../../src/core/bytes.js'
import { redisHash } from '../../src/core/hash/placement-hash.js'
import { nodeName } from '../../src/core/ids.js'
import { Random } from '../../src/core/random.js'
import type { BucketState } from '../../src/node/bucket-state.js'
import { NODE_DEFAULTS, type NodeConfig } from '../../src/node/config.js'
import { Copies } from '../../src/node/copies.js'
import { Node } from '../../src/node/node.js'
import { ReplyWriter } from '../../src/wire/resp/reply-writer.js'
import { encodeArguments } from '../../src/wire/resp/request-writer.js'
import { measure, type Measurement } from './measure.js'

const KEYS = 100_000
const VALUE = 'v'.repeat(64)
/** Writes of one turn, that is of one batch. */
const TURN = 64
const BUCKETS = 16
const SESSION = 1
const START_MS = 1_000_000

const keyText = (i: number): string => `key:${String(i).padStart(16, '0')}`
const setBytes = (key: string): Uint8Array => encodeArguments(['SET', key, VALUE].map(latin1Bytes))
const getBytes = (key: string): Uint8Array => encodeArguments(['GET', key].map(latin1Bytes))

function bucketOf(key: string): number {
  return redisHash.hash(latin1Bytes(key), 0, key.length) & (BUCKETS - 1)
}

/** Nodes whose messages reach each other within the turn. */
class Wires {
  now = START_MS
  repliedBytes = 0
  readonly #nodes = new Map<string, Node>()
  readonly #inFlight: { to: string; envelope: Uint8Array }[] = []

  start(name: string, join: readonly string[]): Node {
    const own = { name: nodeName(name), address: name, life: 1, seed: name.length, join }
    const config: NodeConfig = { ...NODE_DEFAULTS, ...own, buckets: BUCKETS, splitAt: 0 }
    const node = new Node(config, {
      send: (to, envelope) => this.#inFlight.push({ to, envelope: envelope.slice() }),
      output: (_, bytes) => {
        this.repliedBytes += bytes.length
      },
      hangUp: () => undefined,
      event: () => undefined
    })
    this.#nodes.set(name, node)
    node.start(this.now)
    node.flush(this.now)
    return node
  }

  /** Carries everything that is under way, and what it leads to. */
  settle(): void {
    for (let at = 0; at < this.#inFlight.length; at++) {
      const { to, envelope } = this.#inFlight[at]
      const node = this.#nodes.get(to)
      if (node === undefined) continue
      node.receive(envelope, this.now)
      node.flush(this.now)
    }
    this.#inFlight.length = 0
  }

  pass(ms: number): void {
    for (let i = 0; i < ms; i++) {
      this.now++
      for (const node of this.#nodes.values()) {
        node.tick(this.now)
        node.flush(this.now)
      }
      this.settle()
    }
  }
}

/** Two nodes, each bucket on both, and keys whose primary is on the first. */
class Pair {
  readonly wires = new Wires()
  readonly primary: Node
  readonly backup: Node
  readonly keys: string[] = []

  constructor(keys: number) {
    this.primary = this.wires.start('one', [])
    this.backup = this.wires.start('second', ['one'])
    this.wires.pass(2000)
    assert(this.backup.buckets.filter(Boolean).length === BUCKETS, 'every bucket has its backup')
    for (let i = 0; this.keys.length < keys; i++) {
      if (this.primary.buckets[bucketOf(keyText(i))]?.role === 'primary') this.keys.push(keyText(i))
    }
  }
}

/** The two halves of replication, without the node around them. */
class Halves {
  readonly #pair: Pair
  readonly #sender: Copies
  readonly #receiver: Copies
  readonly #call: Call
  readonly #writes: { state: BucketState; raw: Uint8Array }[]
  #version = 1

  constructor(pair: Pair, writes: number) {
    this.#pair = pair
    this.#sender = new Copies(pair.primary, () => undefined)
    this.#receiver = new Copies(pair.backup, () => undefined)
    this.#call = new Call(new ReplyWriter(), pair.primary.store.createKey(), new Random(1))
    this.#writes = Array.from({ length: writes }, (_, i) => {
      const key = pair.keys[i % pair.keys.length]
      const state = pair.primary.buckets[bucketOf(key)]
      assert(state !== undefined, 'the keys are those of the primary')
      return { state, raw: setBytes(key) }
    })
  }

  /** Every write numbered and written into the batch of its turn. */
  encode(): Uint8Array[] {
    const peer = this.#pair.primary.peers.get(this.#pair.backup.config.name)
    assert(peer !== undefined, 'the two know each other')
    const batches: Uint8Array[] = []
    for (const state of this.#pair.primary.buckets) if (state !== undefined) state.seq = 0
    this.#writes.forEach(({ state, raw }, i) => {
      this.#call.version = this.#version++
      this.#sender.replicate(state, this.#call, raw)
      if (i % TURN !== TURN - 1 && i !== this.#writes.length - 1) return
      batches.push(peer.batch.copy())
      peer.batch.reset()
    })
    return batches
  }

  /** Every batch executed; the number of writes that were taken. */
  apply(batches: readonly Uint8Array[]): number {
    const { primary, backup } = this.#pair
    const peer = backup.peers.get(primary.config.name)
    assert(peer !== undefined, 'the two know each other')
    for (const state of backup.buckets) if (state?.role === 'backup') state.seq = 0
    for (const payload of batches) {
      this.#receiver.applyBatch(peer, { kind: 'batch', payload })
    }
    let taken = 0
    for (const state of backup.buckets) if (state?.role === 'backup') taken += state.seq
    return taken
  }
}

function measureHalves(writes: number): Measurement[] {
  const halves = new Halves(new Pair(Math.min(writes, KEYS)), writes)
  const batches = halves.encode()
  assert(halves.apply(batches) === writes, 'every write must be taken')
  return [
    measure(`encode SETs in batches of ${TURN}`, writes, () => halves.encode().length),
    measure(`apply batches of ${TURN} SETs`, writes, () => halves.apply(batches)),
    measure('encode and apply', writes, () => halves.apply(halves.encode()))
  ]
}

function pipelinesOf(commands: readonly Uint8Array[], depth: number): Uint8Array[] {
  const pipelines: Uint8Array[] = []
  for (let at = 0; at < commands.length; at += depth) {
    const part = commands.slice(at, at + depth)
    const bytes = new Uint8Array(part.reduce((sum, { length }) => sum + length, 0))
    let end = 0
    for (const command of part) {
      bytes.set(command, end)
      end += command.length
    }
    pipelines.push(bytes)
  }
  return pipelines
}

/** A request and a flush a pipeline, with what follows from it on the other node, if there is one. */
function drive(wires: Wires, node: Node, pipelines: readonly Uint8Array[]): number {
  for (const bytes of pipelines) {
    node.request(SESSION, bytes, wires.now)
    node.flush(wires.now)
    wires.settle()
  }
  return wires.repliedBytes
}

function measurePair(writes: number): Measurement {
  const pair = new Pair(Math.min(writes, KEYS))
  const { wires, primary, backup, keys } = pair
  const commands = Array.from({ length: writes }, (_, i) => setBytes(keys[i % keys.length]))
  const pipelines = pipelinesOf(commands, TURN)
  primary.open(SESSION, wires.now)
  const before = wires.repliedBytes
  drive(wires, primary, pipelines)
  assert(wires.repliedBytes - before === writes * '+OK\r\n'.length, 'every write is acknowledged')
  const items = (node: Node): number =>
    node.buckets.reduce((sum, state) => sum + (state?.items.items ?? 0), 0)
  assert(items(primary) === items(backup), 'every write is on the backup')
  return measure(`SET through two nodes, pipelines of ${TURN}`, writes, () =>
    drive(wires, primary, pipelines)
  )
}

function measureAlone(commands: number): Measurement[] {
  const wires = new Wires()
  const node = wires.start('one', [])
  node.open(SESSION, wires.now)
  const keys = Array.from({ length: commands }, (_, i) => keyText(i % KEYS))
  const results: Measurement[] = []
  for (const [name, bytesOf] of [
    ['SET', setBytes],
    ['GET', getBytes]
  ] as const) {
    for (const depth of [16, 64]) {
      const pipelines = pipelinesOf(keys.map(bytesOf), depth)
      const run = (): number => drive(wires, node, pipelines)
      results.push(measure(`${name} on one node, pipelines of ${depth}`, commands, run))
    }
  }
  return results
}

export function run({ writes }: { writes: number }): Measurement[] {
  return [...measureHalves(writes), measurePair(writes), ...measureAlone(writes)]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, perSecond, nsPerOperation } of run({
    writes: Number(process.argv[2] ?? 300_000)
  })) {
    const rate = `${(perSecond / 1e6).toFixed(2)} M/s`
    console.log(`${name.padEnd(44)}${rate.padStart(10)}${nsPerOperation.toFixed(0).padStart(8)} ns`)
  }
}
