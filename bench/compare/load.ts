/**
 * The load itself: connections that each keep one batch of requests under way. In the closed form the next batch goes when the
 * last is answered, which finds the throughput; at a fixed rate it goes when it is due and its latency counts from then, so
 * that a server that stands still is charged for everyone who would have waited.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { keySlot, SLOTS } from '../../src/core/hash/slot.js'
import { withConnection } from '../../src/runtime/resp-connection.js'
import { Histogram } from './histogram.js'
import type { Job, LoadResult } from './job.js'
import { readCpuUs, sum } from './proc.js'
import { createCounter, type ReplyCounter } from './reply-counter.js'
import {
  createTemplates,
  keyPrefix,
  keyText,
  resp,
  writeTemplate,
  type Template
} from './request-template.js'

const HOST = '127.0.0.1'
const READ_BYTES = 64 * 1024
/** A server that says nothing at all for so long is taken for hung. */
const SILENCE_MS_MAX = 15_000
const TICK_MS = 1

interface Window {
  operations: number
  histogram: Histogram
  startMs: number
  endMs: number
}

/** Runs a job to its end. Rejects if a server closes a connection, replies with an error, or falls silent. */
export async function runLoad(job: Job): Promise<LoadResult> {
  const draws = await drawKeys(job)
  const load = new Load(job, draws)
  try {
    await load.open()
    return await load.run()
  } finally {
    load.close()
  }
}

/** For each port a function that gives the number of a key its node owns. */
async function drawKeys(job: Job): Promise<(() => number)[]> {
  const { ports, keys, from = 0, mix, cluster = ports } = job
  if (job.eachOnce === true) {
    let next = 0
    return ports.map(() => () => from + (next++ % keys))
  }
  // Any node of a ring takes any key; who owns a slot is a question of the Redis door.
  if (cluster.length === 1 || job.protocol === 'http') {
    return ports.map(() => () => from + Math.floor(Math.random() * keys))
  }
  const owners = await fetchOwners(cluster)
  const owned: number[][] = cluster.map(() => [])
  for (let number = from; number < from + keys; number++) {
    const bytes = Buffer.from(keyText(keyPrefix(mix), number), 'latin1')
    owned[owners[keySlot(bytes, 0, bytes.length)]].push(number)
  }
  return ports.map((port) => {
    // Four bytes each: a draw from a list of half a million is a wait for memory.
    const list = Uint32Array.from(owned[cluster.indexOf(port)])
    if (list.length === 0) throw new Error(`the node at port ${port} owns no key`)
    return () => list[Math.floor(Math.random() * list.length)]
  })
}

/** Which of the ports owns each slot, from `CLUSTER SLOTS`. */
async function fetchOwners(ports: readonly number[]): Promise<Uint8Array> {
  const reply = await withConnection(`${HOST}:${ports[0]}`, (connection) =>
    connection.call('CLUSTER', 'SLOTS')
  )
  const owners = new Uint8Array(SLOTS).fill(255)
  for (const range of reply as unknown as [number, number, [string, number]][]) {
    const [first, last, [, port]] = range
    owners.fill(ports.indexOf(port) & 255, first, last + 1)
  }
  const missing = owners.indexOf(255)
  if (missing !== -1) throw new Error(`slot ${missing} is on none of the nodes`)
  return owners
}

interface Lane {
  readonly socket: Socket
  readonly counter: ReplyCounter
  readonly draw: () => number
  readonly bytes: Buffer
  /** What of it was written last: batches are nearly always of one length, and a view costs more than a request. */
  batch: Buffer
  /** Requests of the batch under way, and replies of it that are still to come. */
  size: number
  left: number
  sentMs: number
  /** When the next is due, at a fixed rate. */
  dueMs: number
}

class Load {
  readonly #job: Job
  readonly #draws: (() => number)[]
  readonly #templates: Template[]
  readonly #wait: Template | undefined
  readonly #batchBytes: number
  readonly #lanes: Lane[] = []
  /** One buffer for all: what is in it is counted before the next read. */
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => undefined
  #window: Window | undefined
  #issued = 0
  #answered = 0
  #stopped = false
  #lastHeardMs = 0
  #turn = 0
  #finish: () => void = () => undefined

  constructor(job: Job, draws: (() => number)[]) {
    this.#job = job
    this.#draws = draws
    this.#templates = createTemplates(job)
    this.#wait = job.wait === undefined ? undefined : resp('WAIT', String(job.wait), '1000')
    const largest = Math.max(...this.#templates.map(({ bytes }) => bytes.length))
    this.#batchBytes = largest * job.pipeline + (this.#wait?.bytes.length ?? 0)
    this.#failed = new Promise((_, reject) => (this.#fail = reject))
    this.#failed.catch(() => undefined)
  }

  async open(): Promise<void> {
    const { connections, ports, protocol } = this.#job
    const opened = Array.from({ length: connections }, (_, index) => {
      const lane: Lane = {
        socket: this.#connect(ports[index % ports.length], (count) => this.#onBytes(lane, count)),
        counter: createCounter(protocol),
        draw: this.#draws[index % ports.length],
        bytes: Buffer.allocUnsafeSlow(this.#batchBytes),
        batch: Buffer.alloc(0),
        size: 0,
        left: 0,
        sentMs: 0,
        dueMs: 0
      }
      this.#lanes.push(lane)
      return new Promise<void>((resolve) => lane.socket.once('connect', () => resolve()))
    })
    await Promise.race([Promise.all(opened), this.#failed])
  }

  #connect(port: number, onBytes: (count: number) => void): Socket {
    const onread = {
      buffer: this.#buffer,
      callback: (count: number): boolean => {
        onBytes(count)
        return true
      }
    }
    const socket = connect({ host: HOST, port, noDelay: true, onread })
    socket.on('error', (error) => this.#fail(new Error(`port ${port}: ${error.message}`)))
    socket.on('close', () => this.#fail(new Error(`port ${port} closed the connection`)))
    return socket
  }

  async run(): Promise<LoadResult> {
    const { warmupMs, durationMs, eachOnce, pids } = this.#job
    this.#lastHeardMs = performance.now()
    const watch = setInterval(() => this.#watch(), 500)
    const finished = new Promise<void>((resolve) => (this.#finish = resolve))
    try {
      const pacing = this.#begin()
      if (eachOnce !== true) await Promise.race([sleep(warmupMs), this.#failed])
      const before = { server: sum(pids.map(readCpuUs)), own: process.cpuUsage() }
      this.#startWindow()
      if (eachOnce === true) await Promise.race([finished, this.#failed])
      else await Promise.race([sleep(durationMs), this.#failed])
      const window = this.#endWindow()
      const serverUs = sum(pids.map(readCpuUs)) - before.server
      const own = process.cpuUsage(before.own)
      this.#stopped = true
      await Promise.race([pacing, this.#failed])
      this.#judgeReplies()
      return describe(window, serverUs, own.user + own.system)
    } finally {
      clearInterval(watch)
    }
  }

  close(): void {
    this.#stopped = true
    for (const { socket } of this.#lanes) socket.removeAllListeners('close').destroy()
  }

  async #begin(): Promise<void> {
    const { ratePerSecond, connections, pipeline } = this.#job
    const nowMs = performance.now()
    if (ratePerSecond === undefined) {
      for (const lane of this.#lanes) this.#send(lane, nowMs)
      return
    }
    const everyMs = (connections * pipeline * 1000) / ratePerSecond
    for (const [index, lane] of this.#lanes.entries()) {
      lane.dueMs = nowMs + (everyMs * index) / connections
    }
    while (!this.#isStopped()) {
      const tickMs = performance.now()
      for (const lane of this.#lanes) {
        if (lane.left > 0 || lane.dueMs > tickMs) continue
        this.#send(lane, lane.dueMs)
        lane.dueMs += everyMs
      }
      await sleep(TICK_MS)
    }
  }

  #isStopped(): boolean {
    return this.#stopped
  }

  #send(lane: Lane, sinceMs: number): void {
    const { pipeline, eachOnce, keys } = this.#job
    const count = eachOnce === true ? Math.min(pipeline, keys - this.#issued) : pipeline
    if (count <= 0) return
    let at = 0
    for (let index = 0; index < count; index++) {
      // By turns, so that lists and the like neither grow nor run dry.
      const template = this.#templates[this.#turn++ % this.#templates.length]
      at = writeTemplate(template, { bytes: lane.bytes, at }, lane.draw)
    }
    if (this.#wait !== undefined) {
      at = writeTemplate(this.#wait, { bytes: lane.bytes, at }, lane.draw)
    }
    this.#issued += count
    lane.size = count
    lane.left = count + (this.#wait === undefined ? 0 : 1)
    lane.sentMs = sinceMs
    if (lane.batch.length !== at) lane.batch = lane.bytes.subarray(0, at)
    lane.socket.write(lane.batch)
  }

  #onBytes(lane: Lane, count: number): void {
    const done = lane.counter.push(this.#buffer, count)
    if (done === 0) return
    const nowMs = performance.now()
    this.#lastHeardMs = nowMs
    lane.left -= done
    if (lane.left > 0) return
    const { eachOnce, keys, ratePerSecond } = this.#job
    const { size } = lane
    this.#answered += size
    if (this.#window !== undefined) {
      this.#window.operations += size
      this.#window.histogram.add((nowMs - lane.sentMs) * 1000, size)
    }
    if (eachOnce === true && this.#answered >= keys) this.#finish()
    else if (!this.#stopped && ratePerSecond === undefined) this.#send(lane, nowMs)
  }

  #startWindow(): void {
    const startMs = performance.now()
    const early = this.#job.eachOnce === true ? this.#answered : 0
    this.#window = { operations: early, histogram: new Histogram(), startMs, endMs: 0 }
  }

  #endWindow(): Window {
    const window = this.#window
    if (window === undefined) throw new Error('nothing was measured')
    this.#window = undefined
    window.endMs = performance.now()
    return window
  }

  #watch(): void {
    const silentMs = performance.now() - this.#lastHeardMs
    if (silentMs > SILENCE_MS_MAX) this.#fail(new Error(`no reply for ${SILENCE_MS_MAX} ms`))
  }

  /** A fast error is not a fast reply. */
  #judgeReplies(): void {
    const wrong = this.#lanes.filter(({ counter }) => counter.errors > 0)
    if (wrong.length === 0) return
    const count = sum(wrong.map(({ counter }) => counter.errors))
    throw new Error(`${count} error replies, such as: ${wrong[0].counter.firstError}`)
  }
}

function describe(window: Window, serverUs: number, ownUs: number): LoadResult {
  const { operations, histogram, startMs, endMs } = window
  if (operations === 0) throw new Error('no reply within the time')
  const seconds = (endMs - startMs) / 1000
  return {
    operations,
    seconds,
    perSecond: operations / seconds,
    latency: histogram.summarize(),
    serverUsPerOperation: serverUs / operations,
    serverShare: serverUs / 1e6 / seconds,
    generatorShare: ownUs / 1e6 / seconds
  }
}
