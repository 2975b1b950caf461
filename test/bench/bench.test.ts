// The built command beside a real redis-server, shortened: that it measures and cleans up, not how fast anything is.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly report: Report | undefined
}

async function bench(...args: string[]): Promise<Ended> {
  const file = join(folder, 'out.json')
  rmSync(file, { force: true })
  const words = ['bin/opencluster', 'bench', '--quick', '--rounds', '1', '--json', file, ...args]
  const child = spawn(process.execPath, words, { cwd: root })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const report = code === 0 ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined
  return { code, stdout, stderr, report }
}

test('a short run has a ratio in every row, and its processes are gone', async (context) => {
  if (redis === undefined) context.skip('redis-server is not installed')
  const { report, stdout } = await bench('--only', 'commands: SET P16 64 B')
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
})

test('a missing peer is explained and the rest is run; one that dies ends its row only', async () => {
  // Serves nobody: it ends before it listens.
  const dying = join(folder, 'dying-server')
  writeFileSync(dying, '#!/bin/sh\nexit 3\n')
  chmodSync(dying, 0o755)
  const only = ['--only', 'commands: INCR P16 64 B']
  const { report, stderr } = await bench(
    '--redis',
    join(folder, 'none'),
    '--valkey',
    dying,
    ...only
  )
  expect(stderr).toContain('is no program')
  expect(report?.rows).toMatchObject([{ peer: 'valkey', ratio: null }])
  expect(report!.rows[0].error).toContain('did not start')
  expect(report!.rows[0].ours).toBeGreaterThan(0)
})

test('wrong words end with 2', async () => {
  const { code, stderr } = await bench('--against', 'mysql')
  expect(code).toBe(2)
  expect(stderr).toContain('each must be redis')
})
