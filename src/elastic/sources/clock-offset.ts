/** A scheduler on another machine goes by that machine's clock; its times are moved to ours before anything is decided. */
import { describeExit } from '../external-command.js'
import type { Place } from '../place.js'
import { FactsError } from './facts-error.js'
import type { SourceFacts } from './source.js'

const SECOND_MS = 1000
/** Below this it is the way there and back, not the clock. */
const OFFSET_MS_MIN = 2000
const TIMEOUT_MS = 20_000

/** How far our clock is ahead of the one there, in ms. */
export async function readClockOffset(
  place: Place,
  signal: AbortSignal | undefined
): Promise<number> {
  const before = Date.now()
  const argv = ['date', '+%s']
  const result = await place.run(argv, { timeoutMs: TIMEOUT_MS, signal })
  if (result.code !== 0) throw describeExit(argv, result)
  const text = result.stdout.trim()
  if (!/^\d{9,11}$/.test(text)) throw new FactsError(`date at ${place.label}: no time`)
  const offset = (before + Date.now()) / 2 - Number(text) * SECOND_MS
  return Math.abs(offset) < OFFSET_MS_MIN ? 0 : Math.round(offset)
}

export function shiftTimes(facts: SourceFacts, offset: number): SourceFacts {
  const move = <T extends object>(value: T, keys: readonly (keyof T)[]): T => {
    const moved = { ...value }
    for (const key of keys) {
      const time = moved[key]
      if (typeof time === 'number') moved[key] = (time + offset) as T[keyof T]
    }
    return moved
  }
  return {
    ...facts,
    hosts: facts.hosts.map((host) => move(host, ['launchedAt', 'idleSince', 'stateSince'])),
    jobs: facts.jobs.map((job) => move(job, ['submittedAt', 'startAfter', 'startedAt'])),
    finished: facts.finished.map((job) => move(job, ['submittedAt', 'startedAt', 'endedAt']))
  }
}
