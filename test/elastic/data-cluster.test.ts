// The data cluster grows and shrinks by itself: nodes are processes, the load is what they hold.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isProcess } from '../../src/elastic/process-identity.js'
import { Processes } from '../integration/process.js'
import { BalancerProcess } from './balancer-process.js'
import { until } from './namespaces.js'

const WAIT_MS_MAX = 120_000

let folder: string
let balancer: BalancerProcess | undefined
const processes = new Processes()

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-data-'))))
afterEach(async () => {
  await balancer?.kill()
  // Nodes that the balancer started outlive it.
  for (const pid of startedPids()) process.kill(pid, 'SIGKILL')
  await processes.end()
  rmSync(folder, { recursive: true, force: true })
})

function startedPids(): number[] {
  const where = join(folder, 'state', 'processes')
  try {
    return readdirSync(where)
      .filter((name) => name.endsWith('.pid'))
      .flatMap((name) => {
        const [pid, startTime] = readFileSync(join(where, name), 'utf8').trim().split(' ')
        return isProcess(Number(pid), startTime) ? [Number(pid)] : []
      })
  } catch {
    return []
  }
}

test('nodes come with the data and leave with it, and nothing is lost', async () => {
  const first = await processes.start('first')
  const connection = await processes.connect(first)
  const config = join(folder, 'config.json')
  writeFileSync(
    config,
    JSON.stringify({
      elastic: {
        data: {
          source: { kind: 'opencluster', node: first.address, itemsPerNode: 500 },
          provider: { kind: 'process' },
          retryMs: 500,
          progressMs: 200,
          policy: {
            intervalMs: 1500,
            jobWaitMs: 1000,
            addPerPass: 2,
            hostsMax: 4,
            billing: { kind: 'second', idleMs: 1500 },
            cooldownDownMs: 500,
            deadAfterMs: 600_000
          }
        }
      }
    })
  )
  balancer = new BalancerProcess(['data', '--config', config, '--state-dir', join(folder, 'state')])
  // Whoever waits in vain shows what the balancer was told, too.
  let seen: unknown
  const output = (): string => `${balancer?.output}${JSON.stringify(seen)}`
  const alive = async (): Promise<number> => {
    const status = await first.status()
    seen = { ...status, buckets: undefined }
    return status.nodes.filter(({ state }) => state === 'alive').length
  }

  const untilAlive = (count: number): Promise<void> =>
    until(output, async () => (await alive()) === count, WAIT_MS_MAX)
  const forAll = (command: string, from: number, to: number): Promise<unknown[]> =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) => {
        const value = command === 'SET' ? [`v${from + index}`] : []
        return connection.call(command, `k${from + index}`, ...value)
      })
    )

  // Two copies need two nodes even when they hold nothing.
  await untilAlive(2)
  await forAll('SET', 0, 1800)
  await untilAlive(4)
  expect(await forAll('GET', 0, 1800)).toEqual(Array.from({ length: 1800 }, (_, i) => `v${i}`))
  await forAll('DEL', 300, 1800)
  await untilAlive(2)
  await until(output, () => startedPids().length === 1, WAIT_MS_MAX)
  expect(await forAll('GET', 0, 300)).toEqual(Array.from({ length: 300 }, (_, i) => `v${i}`))
}, 300_000)
