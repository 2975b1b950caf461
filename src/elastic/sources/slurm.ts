/**
 * Slurm as a source: `sinfo --json` and `squeue --json` at every pass. slurmctld keeps finished jobs for some minutes,
 * so they are gathered from pass to pass; no accounting database is needed.
 */
import type { FinishedJob } from '../../core/scaling/facts.js'
import { describeExit } from '../external-command.js'
import type { Place } from '../place.js'
import { readClockOffset, shiftTimes } from './clock-offset.js'
import { parseJobs, parseNodes } from './slurm-answer.js'
import type { Reading, ReadOptions, Source } from './source.js'

export interface SlurmOptions {
  readonly place: Place
  /** A host that is never removed; without it all nodes are workers. */
  readonly master?: string | undefined
  readonly timeoutMs: number
  readonly isRemote: boolean
}

const FINISHED_MAX = 20_000

export class SlurmSource implements Source {
  readonly label: string
  readonly #options: SlurmOptions
  readonly #finished = new Map<string, FinishedJob>()

  constructor(options: SlurmOptions) {
    this.#options = options
    this.label = `Slurm (${options.place.label})`
  }

  async read({ now, lookbackMs, signal }: ReadOptions): Promise<Reading> {
    const { place, master, isRemote } = this.#options
    const offset = isRemote ? await readClockOffset(place, signal) : 0
    const jobs = parseJobs(await this.#run(['squeue', '--json'], signal))
    const hosts = parseNodes(await this.#run(['sinfo', '--json'], signal), master)
    this.#gather(jobs.finished, now - offset - lookbackMs)
    const facts = { at: now, hosts, jobs: jobs.jobs, finished: [...this.#finished.values()] }
    return { facts: offset === 0 ? facts : shiftTimes(facts, offset), notes: [] }
  }

  #gather(finished: readonly FinishedJob[], since: number): void {
    for (const job of finished) this.#finished.set(job.id, job)
    for (const [id, { endedAt }] of this.#finished) {
      if (endedAt < since || this.#finished.size > FINISHED_MAX) this.#finished.delete(id)
    }
  }

  async #run(argv: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    const { place, timeoutMs } = this.#options
    const result = await place.run(argv, { timeoutMs, signal })
    if (result.code !== 0) throw describeExit(argv, result)
    return result.stdout
  }
}
