// One pass over 10,000 waiting jobs and 1,000 hosts costs less than a second of CPU, and passes leave nothing behind.
// test/elastic/scale.test.ts has the same with the whole command.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  HOSTS,
  JOBS,
  LARGE_NOW,
  writeGridEngine,
  writeSlurm
} from '../../test/elastic/large-queue.js'
import { measureYard, stretch } from '../../test/elastic/yard.js'
import { DEFAULT_CONFIG } from '../core/scaling/config.js'
import { decide } from '../core/scaling/decide.js'
import { createHistory } from '../core/scaling/history.js'
import { composeFacts } from './compose-facts.js'
import { createLocalPlace } from './place.js'
import { GridEngineSource } from './sources/grid-engine.js'
import { SlurmSource } from './sources/slurm.js'
import type { Source } from './sources/source.js'
import { createState } from './state-file.js'

const CPU_SECONDS_MAX = 1
const PASSES = 5
/** Facts of one pass are some 20 MB: passes that kept theirs would be seen at once. */
const GROWTH_BYTES_MAX = 8 * 1024 * 1024

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-scale-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const place = (): ReturnType<typeof createLocalPlace> =>
  createLocalPlace({ PATH: `${folder}:${process.env['PATH'] ?? ''}` })
const common = { timeoutMs: 30_000, isRemote: false }
const sources: readonly (readonly [string, (folder: string) => void, () => Source])[] = [
  [
    'Grid Engine',
    writeGridEngine,
    () =>
      new GridEngineSource({ ...common, place: place(), master: 'master', accountingEveryMs: 0 })
  ],
  ['Slurm', writeSlurm, () => new SlurmSource({ ...common, place: place() })]
]

test.each(sources)('a large cluster of %s', async (name, write, createSource) => {
  write(folder)
  const source = createSource()
  const now = LARGE_NOW
  const config = { ...DEFAULT_CONFIG, hostsMax: 2000, addPerPass: 100 }
  const history = createHistory(now)
  const collect = exposeCollector()
  const state = createState(now)
  const pass = async (): Promise<number> => {
    const before = process.cpuUsage()
    const { facts } = await source.read({ now, lookbackMs: 3_600_000 })
    const composed = composeFacts({ source: facts, machines: undefined, state, pricePerHour: 1 })
    const decision = decide(composed, config, history, now)
    const { user, system } = process.cpuUsage(before)
    expect(facts.hosts.filter(({ role }) => role === 'worker')).toHaveLength(HOSTS)
    expect(facts.jobs).toHaveLength(JOBS + HOSTS)
    expect(decision.actions).toMatchObject([{ kind: 'add', count: 100 }])
    return (user + system) / 1e6
  }
  // The best of a few: the balancer runs for days, and a machine may be busy with other things.
  const seconds = [await pass(), await pass()]
  const heap = collect()
  const yards: number[] = []
  while (seconds.length < PASSES) {
    seconds.push(await pass())
    yards.push(measureYard())
  }
  const growth = collect() - heap
  const [best, yard] = [Math.min(...seconds), Math.min(...yards)]
  const shown = `${best.toFixed(2)} s of CPU a pass, ${(growth / 1024 / 1024).toFixed(1)} MB more after ${PASSES - 2}, a yard is ${yard.toFixed(3)} s`
  process.stdout.write(`${name}, ${JOBS} jobs, ${HOSTS} hosts: ${shown}\n`)
  expect(best).toBeLessThan(stretch(CPU_SECONDS_MAX, yard))
  expect(growth).toBeLessThan(GROWTH_BYTES_MAX)
})

/** What is left on the heap after all garbage has been taken away, in bytes. */
function exposeCollector(): () => number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return () => {
    collect()
    return process.memoryUsage().heapUsed
  }
}
