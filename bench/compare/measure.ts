/**
 * Ours and the peers by turns, round after round, in one run: whatever else the machine does meets all of them. A row is
 * made of medians; its spread says how far the rounds were apart. A side that fails ends its own row and no other.
 */
import type { Latency } from './histogram.js'
import type { LoadResult } from './job.js'
import { readProcessorTime, type ProcessorTime } from './proc.js'
import type { Pair, Place, Row } from './row.js'

export interface Sample {
  readonly value: number
  readonly cpuUs?: number
  readonly latency?: Latency
  readonly generatorShare?: number
  readonly serverShare?: number
}

export interface Side {
  readonly label: string
  /** Before the first round: start it, fill it. */
  readonly prepare?: () => Promise<void>
  readonly take: () => Promise<Sample>
  /** Called with what counts, where some rounds are taken again. */
  readonly kept?: (sample: Sample) => void
}

export interface Figure {
  readonly group: string
  readonly name: string
  readonly unit: string
  readonly better: Row['better']
  readonly at?: Place
  readonly note?: string
}

interface Outcome {
  readonly samples: Sample[]
  error: string | undefined
}

/** One row for each peer; one row without a peer if there is none. */
export async function compare(
  figure: Figure,
  [ours, ...peers]: readonly [Side, ...Side[]],
  rounds: number
): Promise<Row[]> {
  const sides = [ours, ...peers].map((side) => ({ side, outcome: newOutcome() }))
  for (const { side, outcome } of sides) await attempt(outcome, () => side.prepare?.())
  const stolenParts: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const { side, outcome } of sides) {
      await attempt(outcome, async () => {
        const { sample, stolen } = await takeUndisturbed(side)
        outcome.samples.push(sample)
        stolenParts.push(stolen)
        side.kept?.(sample)
      })
    }
  }
  const stolen = stolenParts.length === 0 ? 0 : Math.max(...stolenParts)
  const [own, ...others] = sides
  const rows =
    others.length === 0
      ? [createRow(figure, own.outcome, undefined, 'none')]
      : others.map(({ side, outcome }) => createRow(figure, own.outcome, outcome, side.label))
  return rows.map((row) => noteStolen(row, stolen))
}

/** Whoever waits while the host has the processor waits for nothing that is measured here. */
const STOLEN_MIN = 0.01
const TAKES_MAX = 4
/** What takes longer than this is not taken again. */
const AGAIN_MS_MAX = 10_000
/** The kernel counts in steps of 10 ms: in less than this it may be one by chance. */
const JUDGED_MS_MIN = 500

/**
 * A round in which the host had the processors for others is taken again, ours as theirs and whatever it gave; the one that was
 * disturbed least counts.
 */
async function takeUndisturbed(side: Side): Promise<{ sample: Sample; stolen: number }> {
  let best: { sample: Sample; stolen: number } | undefined
  for (let takes = 0; takes < TAKES_MAX; takes++) {
    const [before, beganMs] = [readProcessorTime(), performance.now()]
    const sample = await side.take()
    const ms = performance.now() - beganMs
    const stolen = ms < JUDGED_MS_MIN ? 0 : stolenPart(before, readProcessorTime())
    if (best === undefined || stolen < best.stolen) best = { sample, stolen }
    if (best.stolen < STOLEN_MIN || ms > AGAIN_MS_MAX) break
  }
  if (best === undefined) throw new Error('nothing was taken')
  return best
}

export function stolenPart(before: ProcessorTime, after: ProcessorTime): number {
  const all = after.all - before.all
  return all > 0 ? (after.stolen - before.stolen) / all : 0
}

function noteStolen(row: Row, stolen: number): Row {
  if (stolen < STOLEN_MIN) return row
  const text = `the host took up to ${(stolen * 100).toFixed(0)} % of a round`
  return { ...row, stolen, note: row.note === undefined ? text : `${row.note}; ${text}` }
}

function newOutcome(): Outcome {
  return { samples: [], error: undefined }
}

async function attempt(outcome: Outcome, act: () => Promise<void> | undefined): Promise<void> {
  if (outcome.error !== undefined) return
  try {
    await act()
  } catch (error) {
    outcome.error = error instanceof Error ? error.message : String(error)
  }
}

function createRow(figure: Figure, ours: Outcome, theirs: Outcome | undefined, peer: string): Row {
  const failed =
    ours.error === undefined
      ? theirs?.error === undefined
        ? undefined
        : `${peer}: ${theirs.error}`
      : `opencluster: ${ours.error}`
  const [own, other] = [valuesOf(ours), theirs === undefined ? [] : valuesOf(theirs)]
  const base = {
    ...figure,
    peer,
    ours: own.length === 0 ? null : median(own),
    theirs: other.length === 0 ? null : median(other),
    rounds: own.length
  }
  if (failed !== undefined) return { ...base, ratio: null, spread: null, error: failed }
  const latency = latencyOf(ours, theirs)
  const more = { ...(latency === undefined ? {} : { latency }) }
  if (theirs === undefined || base.ours === null || base.theirs === null) {
    return { ...base, ratio: null, spread: null, ...more, note: figure.note ?? 'no peer' }
  }
  const ratios = own.map((value, index) => value / other[index])
  const cpu = cpuOf(ours, theirs)
  const shares = sharesOf(ours, theirs)
  const note = joinNotes(figure.note, shares)
  return {
    ...base,
    ratio: base.ours / base.theirs,
    spread: spreadOf(ratios),
    ...more,
    ...(cpu === undefined ? {} : { cpu }),
    ...(shares === undefined ? {} : { shares }),
    ...(note === undefined ? {} : { note })
  }
}

function valuesOf({ samples }: Outcome): number[] {
  return samples.map(({ value }) => value)
}

function medianOf({ samples }: Outcome, read: (sample: Sample) => number | undefined): number {
  return median(samples.map(read).filter((value) => value !== undefined))
}

function cpuOf(ours: Outcome, theirs: Outcome): Pair | undefined {
  const own = medianOf(ours, ({ cpuUs }) => cpuUs)
  const other = medianOf(theirs, ({ cpuUs }) => cpuUs)
  if (!(own > 0) || !(other > 0)) return undefined
  return { ours: own, theirs: other, ratio: own / other }
}

function latencyOf(ours: Outcome, theirs: Outcome | undefined): Row['latency'] {
  const own = medianLatency(ours)
  if (own === undefined) return undefined
  return { ours: own, theirs: theirs === undefined ? null : (medianLatency(theirs) ?? null) }
}

function medianLatency(outcome: Outcome): Latency | undefined {
  const all = outcome.samples.flatMap(({ latency }) => (latency === undefined ? [] : [latency]))
  if (all.length === 0) return undefined
  const pick = (name: keyof Latency): number => median(all.map((latency) => latency[name]))
  return { p50: pick('p50'), p99: pick('p99'), p999: pick('p999'), max: pick('max') }
}

function sharesOf(ours: Outcome, theirs: Outcome): Row['shares'] {
  const generator = medianOf(ours, ({ generatorShare }) => generatorShare)
  if (Number.isNaN(generator)) return undefined
  const share = (outcome: Outcome): number => medianOf(outcome, ({ serverShare }) => serverShare)
  return { generator, ours: share(ours), theirs: share(theirs) }
}

const BUSY = 0.9

/** A generator that had nothing left while a server had is what was measured, for throughput. */
function joinNotes(note: string | undefined, shares: Row['shares']): string | undefined {
  if (shares === undefined || shares.generator < BUSY) return note
  if (Math.min(shares.ours, shares.theirs) >= BUSY) return note
  const limit = 'the generator was the limit: compare the CPU'
  return note === undefined ? limit : `${note}; ${limit}`
}

export function toSample(result: LoadResult): Sample {
  return {
    value: result.perSecond,
    cpuUs: result.serverUsPerOperation,
    latency: result.latency,
    generatorShare: result.generatorShare,
    serverShare: result.serverShare
  }
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return NaN
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Null for a single round, which says nothing of how far two are apart. */
export function spreadOf(ratios: readonly number[]): number | null {
  if (ratios.length < 2) return null
  return (Math.max(...ratios) - Math.min(...ratios)) / 2 / median(ratios)
}
