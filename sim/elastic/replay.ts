/**
 * Replays a trace against a policy: a scheduler that starts what fits, oldest first, hosts that take
 * minutes to boot and seconds to remove, and a pass of the policy every minute. Everything is drawn
 * from the seed and from nothing else, and hosts boot alike under every policy. Between looking and
 * acting time passes, as in life: a policy that does not look again after it closed a host can kill the
 * job that got there meanwhile, which is then counted and starts again.
 */
import { assert } from '../../src/core/assert.js'
import { Random } from '../../src/core/random.js'
import type { Facts, FinishedJob, HostFacts, JobFacts } from '../../src/core/scaling/facts.js'
import { EventQueue, type QueuedEvent } from '../event-queue.js'
import type { BillingKind, Pass, Policy } from './policies.js'
import type { Trace, TraceJob } from './trace.js'

/** A Wednesday, at midnight. */
export const START = 1_700_006_400_000
const HOUR_MS = 3_600_000
/** From the facts to the moment a host is closed, and from there until it is gone. */
const CLOSE_MS = 5_000
const REMOVE_MS = 15_000
const FLAP_MS = 15 * 60_000
const FINISHED_KEPT = 500
const MASTER = 'master'

export interface ReplayOptions {
  readonly trace: Trace
  readonly policy: Policy
  readonly seed: number
  readonly billing: BillingKind
  readonly hostsMin: number
  readonly hostsMax: number
  readonly slotsPerHost: number
  readonly bootMs: number
  readonly intervalMs: number
  /** `spread`: the least loaded host first, as Grid Engine does; `fill`: the fullest that fits. */
  readonly placement: 'spread' | 'fill'
}

export interface Result {
  readonly policy: string
  readonly waitMeanMs: number
  readonly waitP95Ms: number
  readonly waitMaxMs: number
  readonly hostHours: number
  /** Host hours as billed. */
  readonly billedHours: number
  readonly hostsMost: number
  readonly added: number
  readonly removed: number
  /** Hosts asked for within a quarter of an hour of giving one up: paid for twice. */
  readonly flaps: number
  readonly killed: number
  /** Tasks that could have run and had not ended by the end of the comparison. */
  readonly unfinished: number
  /** Passes that would have ended the program; it is taken as restarted at once. */
  readonly crashes: number
}

interface Line {
  readonly job: TraceJob
  waiting: number
  running: number
  /** For an array with a limit: since when each of the next tasks could have started. */
  readonly eligible: number[]
}

interface Task {
  readonly line: Line
  readonly startedAt: number
  readonly waitedMs: number
  readonly parts: readonly { readonly host: Host; readonly slots: number }[]
  end: QueuedEvent | undefined
  /** The same in every pass until it ends. */
  readonly facts: JobFacts
}

interface Host {
  readonly name: string
  readonly launchedAt: number
  used: number
  open: boolean
  readonly tasks: Set<Task>
}

export function replay(options: ReplayOptions): Result {
  return new Replay(options).run()
}

class Replay {
  readonly #options: ReplayOptions
  readonly #events = new EventQueue()
  readonly #random: Random
  readonly #pass: (facts: Facts) => Pass
  readonly #hosts: Host[] = []
  readonly #booting = new Map<string, number>()
  readonly #bootDurations: number[] = []
  #lines: Line[] = []
  readonly #running = new Set<Task>()
  readonly #finished: FinishedJob[] = []
  readonly #waits: number[] = []
  readonly #bills: number[] = []
  #numbers = 0
  #added = 0
  #removed = 0
  #flaps = 0
  #removedAt = -Infinity
  #killed = 0
  #crashes = 0
  #busyUntil = 0
  #hostsMost = 1

  constructor(options: ReplayOptions) {
    assert(options.slotsPerHost > 0 && options.intervalMs > 0, 'hosts with slots, and time between')
    this.#options = options
    this.#random = new Random(options.seed)
    this.#pass = options.policy.start(options, START)
    this.#hosts.push(createHost(MASTER, START))
  }

  run(): Result {
    const { trace, intervalMs } = this.#options
    for (const job of trace.jobs) this.#events.at(job.submitMs, () => this.#submit(job))
    for (let at = intervalMs; at < trace.horizonMs; at += intervalMs) {
      this.#events.at(at, () => this.#look())
    }
    while (this.#events.step(trace.horizonMs));
    this.#events.advance(trace.horizonMs)
    for (const host of this.#hosts) this.#bills.push(this.#now - host.launchedAt)
    for (const since of this.#booting.values()) this.#bills.push(this.#now - since)
    return this.#result()
  }

  get #now(): number {
    return START + this.#events.now
  }

  #submit(job: TraceJob): void {
    const since = START + Math.max(job.submitMs, job.startAfterMs ?? 0, job.heldUntilMs ?? 0)
    const first = Math.min(job.tasks, job.taskLimit ?? job.tasks)
    const eligible = new Array<number>(first).fill(since)
    this.#lines.push({ job, waiting: job.tasks, running: 0, eligible })
    for (const later of [job.startAfterMs, job.heldUntilMs]) {
      if (later !== undefined && later > this.#events.now) {
        this.#events.at(later, () => this.#schedule())
      }
    }
    this.#schedule()
  }

  /** Starts all that fits, oldest first; what does not fit does not hold back what does. */
  #schedule(): void {
    let free = 0
    for (const host of this.#hosts) free += this.#freeOf(host)
    let done = false
    for (const line of this.#lines) {
      if (free === 0) break
      while (line.waiting > 0 && line.job.slots <= free && this.#mayStart(line)) {
        if (!this.#start(line)) break
        free -= line.job.slots
      }
      if (line.waiting === 0 && line.running === 0) done = true
    }
    // An ended array is dropped here, at the latest when the next job comes or ends.
    if (done) this.#lines = this.#lines.filter(({ waiting, running }) => waiting + running > 0)
  }

  #mayStart({ job, running }: Line): boolean {
    if (job.impossible === true || running >= (job.taskLimit ?? Infinity)) return false
    return Math.max(job.startAfterMs ?? 0, job.heldUntilMs ?? 0) <= this.#events.now
  }

  #start(line: Line): boolean {
    const { job } = line
    const parts = this.#place(job.slots)
    if (parts === undefined) return false
    const since = line.eligible.pop() ?? this.#now
    const waitedMs = this.#now - since
    const facts: JobFacts = {
      ...this.#lineFacts(line),
      state: 'running',
      tasks: 1,
      startedAt: this.#now,
      hosts: parts.map(({ host, slots }) => ({ host: host.name, slots }))
    }
    const task: Task = { line, startedAt: this.#now, waitedMs, parts, end: undefined, facts }
    for (const { host, slots } of parts) {
      host.used += slots
      host.tasks.add(task)
    }
    line.waiting--
    line.running++
    this.#running.add(task)
    task.end = this.#events.after(job.durationMs, () => this.#end(task))
    return true
  }

  /** One host, or several for what is larger than any. */
  #place(wanted: number): Task['parts'] | undefined {
    const { slotsPerHost, placement } = this.#options
    const sign = placement === 'spread' ? 1 : -1
    const open = this.#hosts
      .filter((host) => this.#freeOf(host) > 0)
      .sort((a, b) => sign * (a.used - b.used))
    if (wanted <= slotsPerHost) {
      const host = open.find((each) => this.#freeOf(each) >= wanted)
      return host === undefined ? undefined : [{ host, slots: wanted }]
    }
    const parts: { host: Host; slots: number }[] = []
    let rest = wanted
    for (const host of open) {
      const slots = Math.min(rest, this.#freeOf(host))
      parts.push({ host, slots })
      rest -= slots
      if (rest === 0) return parts
    }
    return undefined
  }

  #freeOf({ open, used }: Host): number {
    return open ? this.#options.slotsPerHost - used : 0
  }

  #end(task: Task): void {
    const { job } = task.line
    this.#release(task)
    this.#waits.push(task.waitedMs)
    if (job.taskLimit !== undefined) task.line.eligible.push(this.#now)
    this.#finished.push({
      id: job.id,
      submittedAt: START + job.submitMs,
      startedAt: task.startedAt,
      endedAt: this.#now,
      slots: job.slots,
      ...familyOf(job)
    })
    if (this.#finished.length > 2 * FINISHED_KEPT) {
      this.#finished.splice(0, this.#finished.length - FINISHED_KEPT)
    }
    this.#schedule()
  }

  #release(task: Task): void {
    for (const { host, slots } of task.parts) {
      host.used -= slots
      host.tasks.delete(task)
    }
    this.#running.delete(task)
    task.line.running--
  }

  #look(): void {
    // Removing is not finished: the next look waits for it.
    if (this.#now < this.#busyUntil || this.#isAsleep()) return
    const { actions, crash } = this.#pass(this.#facts())
    if (crash !== undefined) this.#crashes++
    let delay = CLOSE_MS
    for (const action of actions) {
      if (action.kind === 'add') for (let i = 0; i < action.count; i++) this.#boot()
      if (action.kind === 'drain' || action.kind === 'open') {
        this.#hostNamed(action.host).open = action.kind === 'open'
        if (action.kind === 'open') this.#schedule()
      }
      if (action.kind !== 'remove' && action.kind !== 'stop') continue
      const { host } = action
      this.#events.after(delay, () => this.#close(host))
      this.#busyUntil = this.#now + delay + REMOVE_MS
      // The original removed one host after the other; closed hosts can go side by side.
      if (!this.#options.policy.drains) delay += REMOVE_MS
    }
  }

  /** Nothing anywhere and no floor to reach: every policy would leave it so, and half of a day is like that. */
  #isAsleep(): boolean {
    const nothing = this.#lines.length === 0 && this.#booting.size === 0
    return nothing && this.#hosts.length === 1 && this.#options.hostsMin <= 1
  }

  #boot(): void {
    const { bootMs } = this.#options
    const since = this.#now
    const name = `node${String(++this.#numbers).padStart(3, '0')}`
    // A fifth more or less; the n-th host takes the same time whoever asks for it.
    const took = Math.round(bootMs * (0.8 + 0.4 * this.#random.fraction()))
    this.#added++
    if (since - this.#removedAt < FLAP_MS) this.#flaps++
    this.#booting.set(name, since)
    this.#hostsMost = Math.max(this.#hostsMost, this.#hosts.length + this.#booting.size)
    this.#events.after(took, () => {
      this.#booting.delete(name)
      this.#bootDurations.push(took)
      this.#hosts.push(createHost(name, since))
      this.#schedule()
    })
  }

  #hostNamed(name: string): Host {
    const host = this.#hosts.find((each) => each.name === name)
    assert(host !== undefined && name !== MASTER, `${name} cannot be closed`)
    return host
  }

  #close(name: string): void {
    const host = this.#hostNamed(name)
    if (this.#options.policy.drains && host.used > 0) {
      // A job got there since the facts were taken: the host stays.
      host.open = true
      return
    }
    host.open = false
    this.#events.after(REMOVE_MS, () => this.#remove(host))
  }

  #remove(host: Host): void {
    for (const task of [...host.tasks]) {
      this.#killed++
      if (task.end !== undefined) this.#events.cancel(task.end)
      this.#release(task)
      task.line.waiting++
      task.line.eligible.push(task.startedAt - task.waitedMs)
    }
    this.#hosts.splice(this.#hosts.indexOf(host), 1)
    this.#removed++
    this.#removedAt = this.#now
    this.#bills.push(this.#now - host.launchedAt)
    this.#schedule()
  }

  #facts(): Facts {
    const { slotsPerHost } = this.#options
    const jobs: JobFacts[] = []
    for (const { facts } of this.#running) jobs.push(facts)
    for (const line of this.#lines) {
      if (line.waiting > 0) jobs.push({ ...this.#lineFacts(line), tasks: line.waiting })
    }
    const hosts = this.#hosts.map((host): HostFacts => ({
      name: host.name,
      role: host.name === MASTER ? 'master' : 'worker',
      state: host.open ? 'ready' : 'draining',
      slots: slotsPerHost,
      used: host.used,
      queues: [{ queue: 'all.q', slots: slotsPerHost, used: host.used }],
      launchedAt: host.launchedAt
    }))
    return {
      at: this.#now,
      hosts,
      jobs,
      finished: this.#finished,
      provider: {
        booting: [...this.#booting].map(([name, since]) => ({ name, since })),
        bootFailures: [],
        capacityFailures: [],
        bootDurationsMs: this.#bootDurations.slice(-10)
      }
    }
  }

  #lineFacts({ job }: Line): JobFacts {
    const held = (job.heldUntilMs ?? 0) > this.#events.now
    return {
      id: job.id,
      state: held ? 'held' : 'queued',
      submittedAt: START + job.submitMs,
      slots: job.slots,
      tasks: job.tasks,
      ...familyOf(job),
      ...(job.slots > this.#options.slotsPerHost && job.impossible !== true
        ? { span: 'hosts' }
        : {}),
      ...(job.taskLimit === undefined ? {} : { taskLimit: job.taskLimit }),
      ...(job.startAfterMs === undefined ? {} : { startAfter: START + job.startAfterMs })
    }
  }

  #result(): Result {
    const waits = this.#waits.sort((a, b) => a - b)
    const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
    const hours = this.#bills.map((ms) => ms / HOUR_MS)
    let unfinished = this.#running.size
    for (const { job, waiting } of this.#lines) if (job.impossible !== true) unfinished += waiting
    const byHour = this.#options.billing === 'hour'
    return {
      policy: this.#options.policy.name,
      waitMeanMs: waits.length === 0 ? 0 : sum(waits) / waits.length,
      waitP95Ms: waits.length === 0 ? 0 : waits[Math.floor(0.95 * (waits.length - 1))],
      waitMaxMs: waits.at(-1) ?? 0,
      hostHours: sum(hours),
      billedHours: sum(byHour ? hours.map(Math.ceil) : hours),
      hostsMost: this.#hostsMost,
      added: this.#added,
      removed: this.#removed,
      flaps: this.#flaps,
      killed: this.#killed,
      unfinished,
      crashes: this.#crashes
    }
  }
}

function createHost(name: string, launchedAt: number): Host {
  return { name, launchedAt, used: 0, open: true, tasks: new Set() }
}

function familyOf({ family }: TraceJob): { family?: string } {
  return family === undefined ? {} : { family }
}
