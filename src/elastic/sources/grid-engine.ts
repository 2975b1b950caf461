/**
 * Grid Engine as a source: `qhost -xml` and `qstat -u '*' -f -r -xml` at every pass, `qstat -j` for the waiting jobs
 * whose reasons matter, `qconf -sp` for how a parallel environment spreads, `qacct` for what ended. Everything runs
 * where the master can be reached (here or through ssh) with TZ=UTC, because its answers carry no time zone.
 */
import type { Consumable, FinishedJob, JobFacts } from '../../core/scaling/facts.js'
import { describeExit, type CommandOptions } from '../external-command.js'
import type { Place } from '../place.js'
import { readClockOffset, shiftTimes } from './clock-offset.js'
import {
  formatAccountingTime,
  isEmptyAccounting,
  parseAccounting
} from './grid-engine-accounting.js'
import { composeHosts, listSiteResources, parseHosts, type HostList } from './grid-engine-hosts.js'
import { parseQueue, type WaitingJob } from './grid-engine-queue.js'
import { addDetail, chooseForDetails, parseDetails, type Detail } from './grid-engine-reasons.js'
import type { Reading, ReadOptions, Source } from './source.js'

export interface GridEngineOptions {
  readonly place: Place
  /** The host of the qmaster; asked for when not given. */
  readonly master?: string | undefined
  readonly timeoutMs: number
  /** Accounting is read through from its beginning each time, so not at every pass. */
  readonly accountingEveryMs: number
  /** Its clock is another machine's. */
  readonly isRemote: boolean
}

/** Reasons cost about 4 kB and 0.3 ms a job. */
const DETAILS_MAX = 1000
const DETAILS_AT_ONCE = 250
const ENVIRONMENTS_MAX = 50
/** An administrator changes these seldom. */
const ENVIRONMENT_AGE_MS_MAX = 10 * 60_000

type Span = Pick<JobFacts, 'span' | 'slotsPerHost'>

export class GridEngineSource implements Source {
  readonly label: string
  readonly #options: GridEngineOptions
  #master: string | undefined
  #finished: readonly FinishedJob[] = []
  #accountedAt = -Infinity
  readonly #environments = new Map<string, { readonly span: Span; readonly at: number }>()

  constructor(options: GridEngineOptions) {
    this.#options = options
    this.#master = options.master
    this.label = `Grid Engine (${options.place.label})`
  }

  async read(options: ReadOptions): Promise<Reading> {
    const { now, signal } = options
    const notes: string[] = []
    const offset = this.#options.isRemote ? await readClockOffset(this.#options.place, signal) : 0
    this.#master ??= (await this.#run(['qconf', '-sss'], signal)).trim() || undefined
    const command = ['qstat', '-u', '*', '-f', '-r', '-xml']
    const queue = parseQueue(await this.#run(command, signal))
    const siteResources = listSiteResources(queue)
    const wanted = siteResources.length === 0 ? [] : ['-F', siteResources.join(',')]
    const list = parseHosts(await this.#run(['qhost', ...wanted, '-xml'], signal))
    const details = await this.#readDetails(queue.waiting, notes, signal)
    const spans = await this.#readSpans(queue.waiting, now, notes, signal)
    const waiting = queue.waiting.map(({ facts, environment }) => ({
      ...addDetail(facts, details.get(facts.id)),
      ...(environment === undefined ? {} : spans.get(environment))
    }))
    await this.#readAccounting(options, offset, notes)
    const facts = {
      at: now,
      hosts: composeHosts(list, queue, { master: this.#master, siteResources }),
      jobs: [...queue.running, ...waiting],
      finished: this.#finished,
      consumables: await this.#readConsumables(list, signal)
    }
    return { facts: offset === 0 ? facts : shiftTimes(facts, offset), notes }
  }

  async #run(argv: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    const { place, timeoutMs } = this.#options
    const options: CommandOptions = { timeoutMs, signal, env: { TZ: 'UTC' } }
    const result = await place.run(argv, options)
    if (result.code !== 0) throw describeExit(argv, result)
    return result.stdout
  }

  /** How much the whole cluster has of what jobs ask for, where the master knows. */
  async #readConsumables(list: HostList, signal: AbortSignal | undefined): Promise<Consumable[]> {
    if (list.shared.size === 0) return []
    const totals = parseComplexValues(await this.#run(['qconf', '-se', 'global'], signal))
    return [...list.shared].flatMap(([name, left]) => {
      const total = totals.get(name)
      return total === undefined ? [] : [{ name, total, used: Math.max(0, total - left) }]
    })
  }

  async #readDetails(
    waiting: readonly WaitingJob[],
    notes: string[],
    signal: AbortSignal | undefined
  ): Promise<Map<string, Detail>> {
    const details = new Map<string, Detail>()
    const ids = chooseForDetails(waiting, DETAILS_MAX)
    try {
      for (let from = 0; from < ids.length; from += DETAILS_AT_ONCE) {
        const some = ids.slice(from, from + DETAILS_AT_ONCE).join(',')
        const answer = parseDetails(await this.#run(['qstat', '-j', some, '-xml'], signal))
        for (const [id, detail] of answer) details.set(id, detail)
      }
    } catch (error) {
      notes.push(`why jobs wait is not known: ${messageOf(error)}`)
    }
    return details
  }

  async #readSpans(
    waiting: readonly WaitingJob[],
    now: number,
    notes: string[],
    signal: AbortSignal | undefined
  ): Promise<Map<string, Span>> {
    const names = new Set<string>()
    for (const { environment } of waiting) if (environment !== undefined) names.add(environment)
    const spans = new Map<string, Span>()
    for (const name of [...names].slice(0, ENVIRONMENTS_MAX)) {
      const known = this.#environments.get(name)
      if (known !== undefined && now - known.at < ENVIRONMENT_AGE_MS_MAX) {
        spans.set(name, known.span)
        continue
      }
      try {
        const span = parseAllocationRule(
          await this.#run(['qconf', '-sp', await this.#resolve(name, signal)], signal)
        )
        this.#environments.set(name, { span, at: now })
        spans.set(name, span)
      } catch (error) {
        notes.push(`how ${name} spreads its jobs is not known: ${messageOf(error)}`)
      }
    }
    return spans
  }

  /** `-pe mpi*` names any that fit. */
  async #resolve(name: string, signal: AbortSignal | undefined): Promise<string> {
    if (!name.includes('*')) return name
    const pattern = new RegExp(
      `^${name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`
    )
    const all = (await this.#run(['qconf', '-spl'], signal)).split(/\s+/)
    return all.find((one) => pattern.test(one)) ?? name
  }

  async #readAccounting(options: ReadOptions, offset: number, notes: string[]): Promise<void> {
    const { now, lookbackMs, signal } = options
    if (now - this.#accountedAt < this.#options.accountingEveryMs) return
    const since = formatAccountingTime(now - offset - lookbackMs)
    const argv = ['qacct', '-j', '-b', since]
    try {
      const { place, timeoutMs } = this.#options
      const result = await place.run(argv, { timeoutMs, signal, env: { TZ: 'UTC' } })
      if (result.code === 0) this.#finished = parseAccounting(result.stdout)
      else if (isEmptyAccounting(`${result.stdout} ${result.stderr}`)) this.#finished = []
      else throw describeExit(argv, result)
      this.#accountedAt = now
    } catch (error) {
      notes.push(`how long jobs take is not known: ${messageOf(error)}`)
    }
  }
}

/** `allocation_rule`: `$pe_slots` keeps a job on one host, a number is so many slots on each. */
export function parseAllocationRule(text: string): Span {
  const rule = /^allocation_rule\s+(\S+)/m.exec(text)?.[1]
  if (rule === '$pe_slots') return { span: 'host' }
  if (rule !== undefined && /^[1-9]\d{0,5}$/.test(rule)) {
    return { span: 'hosts', slotsPerHost: Number(rule) }
  }
  return { span: 'hosts' }
}

/** `complex_values  lic=1,tokens=20`, which goes on over lines that end in a backslash. */
export function parseComplexValues(text: string): Map<string, number> {
  const line = /^complex_values\s+(.*)$/m.exec(text.replace(/\\\n\s*/g, ''))?.[1] ?? ''
  const values = new Map<string, number>()
  for (const [, name, value] of line.matchAll(/([\w.-]+)=(\d{1,9}(?:\.\d+)?)(?=,|\s|$)/g)) {
    values.set(name, Number(value))
  }
  return values
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
