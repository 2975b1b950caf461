// The whole command over 10,000 jobs and 1,000 hosts: under a second of CPU a pass, and memory that does not grow.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BalancerProcess } from './balancer-process.js'
import { JOBS, writeGridEngine, writeSlurm } from './large-queue.js'
import { until } from './namespaces.js'
import { measureYard, stretch } from './yard.js'

const CPU_SECONDS_MAX = 1
/** It would end at this; the resident memory has the program itself, stacks and text that was read on top. */
const HEAP_MB_MAX = 160
const RESIDENT_MB_MAX = 400
const WARM = 3
const PASSES = 9
/** /proc counts in these, whatever the kernel's clock. */
const TICKS_A_SECOND = 100

let folder: string
let balancer: BalancerProcess | undefined
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-large-'))))
afterEach(async () => {
  await balancer?.kill()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['sge', writeGridEngine],
  ['slurm', writeSlurm]
] as const)('%s', async (kind, write) => {
  write(folder)
  const config = join(folder, 'cluster.json')
  const provider = { kind: 'process', argv: ['true'] }
  const scheduler = { kind: 'none' }
  const policy = { hostsMax: 2000, addPerPass: 100, factsAgeMaxMs: 3_600_000 }
  const source = { kind, master: 'master' }
  writeFileSync(
    config,
    JSON.stringify({ elastic: { large: { source, provider, scheduler, policy } } })
  )
  const args = ['large', '--config', config, '--dry-run', '--json', '--interval', '0.1']
  balancer = new BalancerProcess(
    [...args, '--state-dir', join(folder, 'state')],
    [
      'env',
      `PATH=${folder}:${process.env['PATH'] ?? ''}`,
      `NODE_OPTIONS=--max-old-space-size=${HEAP_MB_MAX}`
    ]
  )
  const one = balancer
  // Beside the decisions there are lines for people.
  const passes = (): string[] =>
    one.output.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
  // The best of a few: other things that run on the processor beside it make every instruction slower.
  let [seconds, yard] = [Infinity, Infinity]
  let last: { count: number; cpu: number } | undefined
  await until(`${PASSES} passes`, () => {
    if (!one.isRunning) throw new Error(`it has ended: ${one.output.slice(-2000)}`)
    const { length: count } = passes()
    if (count < WARM || count === last?.count) return false
    const cpu = readCpu(one.pid)
    if (last !== undefined) seconds = Math.min(seconds, (cpu - last.cpu) / (count - last.count))
    last = { count, cpu }
    yard = Math.min(yard, measureYard())
    return count >= PASSES
  })
  const resident = Number(/VmHWM:\s+(\d+) kB/.exec(readProcess(one.pid, 'status'))?.[1]) / 1024
  process.stdout.write(
    `${kind}: ${seconds.toFixed(2)} s of CPU a pass, ${resident.toFixed(0)} MB at the most, a yard is ${yard.toFixed(3)} s\n`
  )
  expect(JSON.parse(passes()[0])).toMatchObject({ statistics: { queued: JOBS } })
  expect(seconds).toBeLessThan(stretch(CPU_SECONDS_MAX, yard))
  expect(resident).toBeLessThan(RESIDENT_MB_MAX)
})

function readProcess(pid: number, name: string): string {
  return readFileSync(`/proc/${pid}/${name}`, 'utf8')
}

/** User and system time of the process, in seconds; what it ran does not count. */
function readCpu(pid: number): number {
  const fields = readProcess(pid, 'stat')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}
