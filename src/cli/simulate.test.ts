import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from './main.js'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-simulate-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function call(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' }
  const output = {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) }
  }
  const code = await run(['simulate', ...argv], output)
  return { code, ...written }
}

describe('simulate --elastic', () => {
  test('policies side by side, the same each time', async () => {
    const once = (): ReturnType<typeof call> =>
      call('--elastic', '--workload', 'burst', '--days', '1')
    const { code, stdout } = await once()
    expect(code).toBe(0)
    for (const billing of ['hour', 'second']) {
      expect(stdout).toContain(`tasks, billed by the ${billing} (seed 1)`)
    }
    expect(stdout.match(/^document 004 as written /gm)).toHaveLength(2)
    expect(
      stdout.match(/^prompt against document 004 as written: .*: better on both$/gm)
    ).toHaveLength(2)
    expect((await once()).stdout).toBe(stdout)
  })

  test('a file in the Standard Workload Format, as JSON', async () => {
    const path = join(folder, 'small.swf')
    const line = (number: number): string =>
      `${number} ${number * 60} 0 900 4 -1 -1 4 -1 -1 1 1 1 1`
    writeFileSync(path, Array.from({ length: 20 }, (_, index) => line(index)).join('\n'))
    const { stdout } = await call('--elastic', '--workload', path, '--slots', '4', '--json')
    const [byHour] = JSON.parse(stdout) as { title: string; rows: { policy: string }[] }[]
    expect(byHour.title).toBe('small.swf, 20 tasks, billed by the hour (seed 1)')
    expect(byHour.rows.map(({ policy }) => policy)).toContain('prompt')
  })

  test.each([
    [['--elastic', '--workload', '/nonexistent.swf'], '--workload /nonexistent.swf: ENOENT'],
    [['--elastic', '--faults', 'crash'], '--faults: only without --elastic'],
    [['--elastic', '--zones', 'x'], '--zones: only with --joins'],
    [['--workload', 'small'], '--workload: only with --elastic'],
    [['--joins', '1..2', '--seeds', '3'], '--seeds: only without --joins']
  ])('%j is wrong usage', async (argv, message) => {
    const { code, stderr } = await call(...argv)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})
