// The built command beside a real redis-server, shortened: that it measures and cleans up, not how fast anything is.
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Report } from '../../bench/compare/report.js'
import { findRedisServer } from '../conformance/redis-server.js'

const root = join(import.meta.dirname, '..', '..')
let folder: string
let redis: string | undefined

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'opencluster-bench-test-'))
  redis = findRedisServer()
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Every process of a run inherits it, so that those that are left can be told from anybody else's. */
const MARK = 'OPENCLUSTER_BENCH_TEST'

/** The programs of a run that are there now. */
function listLeft(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8')
      if (!environment.includes(`${MARK}=${folder}`)) return []
      return [readFileSync(`/proc/${name}/cmdline`, 'utf8')]
    } catch {
      // Not a process, or one that has just ended.
      return []
    }
  })
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly report: Report | undefined
}

async function bench(
  args: readonly string[],
  onStart?: (child: ChildProcess) => Promise<void>
): Promise<Ended> {
  const file = join(folder, 'out.json')
  rmSync(file, { force: true })
  const words = ['bin/opencluster', 'bench', '--quick', '--rounds', '1', '--json', file, ...args]
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, [MARK]: folder }
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  await onStart?.(child)
  const code = await closed
  const report = code === 0 ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined
  return { code, stdout, stderr, report }
}

test('a short run has a ratio in every row, and its processes are gone', async (context) => {
  if (redis === undefined) context.skip('redis-server is not installed')
  const { report, stdout } = await bench(['--only', 'commands: SET P16 64 B'])
  expect(report?.rows).toHaveLength(1)
  const [row] = report!.rows
  expect(row.error).toBeUndefined()
  expect(row).toMatchObject({ peer: 'redis', unit: 'op/s', rounds: 1 })
  // Loose: that both were really loaded, and neither figure is nonsense.
  expect(row.ours).toBeGreaterThan(1000)
  expect(row.theirs).toBeGreaterThan(1000)
  expect(row.ratio).toBeGreaterThan(0.02)
  expect(row.ratio).toBeLessThan(50)
  expect(row.cpu?.ours).toBeGreaterThan(0.05)
  expect(row.latency!.ours.p50).toBeLessThanOrEqual(row.latency!.ours.p99)
  expect(stdout).toContain('SET P16 64 B')
  expect(listLeft()).toEqual([])
})

test('a missing peer is explained and the rest is run; one that dies ends its row only', async () => {
  // Serves nobody: it ends before it listens.
  const dying = join(folder, 'dying-server')
  writeFileSync(dying, '#!/bin/sh\nexit 3\n')
  chmodSync(dying, 0o755)
  const only = ['--only', 'commands: INCR P16 64 B']
  const { report, stderr } = await bench([
    '--redis',
    join(folder, 'none'),
    '--valkey',
    dying,
    ...only
  ])
  expect(stderr).toContain('is no program')
  expect(report?.rows).toMatchObject([{ peer: 'valkey', ratio: null }])
  expect(report!.rows[0].error).toContain('did not start')
  expect(report!.rows[0].ours).toBeGreaterThan(0)
})

test('Ctrl-C in the middle leaves no process behind', async () => {
  const { code } = await bench(['--only', 'commands: SET P1 64 B'], async (child) => {
    await vi.waitUntil(() => listLeft().some((line) => line.includes('generator-main')), 20_000)
    child.kill('SIGINT')
  })
  expect(code).toBe(130)
  expect(listLeft()).toEqual([])
})

test('wrong words end with 2', async () => {
  const { code, stderr } = await bench(['--against', 'mysql'])
  expect(code).toBe(2)
  expect(stderr).toContain('each must be redis')
})
