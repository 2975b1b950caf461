// The package as its users get it: packed, unpacked elsewhere, imported and run.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const run = (command: string, args: string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

describe('the package', () => {
  let folder: string
  let unpacked: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'opencluster-package-'))
    const packed = run(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
      root
    )
    run('tar', ['xzf', join(folder, packed.trim().split('\n').at(-1) ?? '')], folder)
    unpacked = join(folder, 'package')
  })

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  test('can be imported, and has what its types say', () => {
    const script =
      "import * as oc from './dist/src/index.js'; console.log(Object.keys(oc).sort().join(' '))"
    const names = run(process.execPath, ['--input-type=module', '-e', script], unpacked).trim()
    expect(names.split(' ')).toContain('VERSION')
    const types = readFileSync(join(unpacked, 'dist/src/index.d.ts'), 'utf8')
    for (const name of names.split(' ')) expect(types).toContain(name)
  })

  test('has a command that runs', () => {
    const json = run(
      process.execPath,
      [
        'bin/opencluster',
        'simulate',
        '--joins',
        '2..3',
        '--buckets',
        '16',
        '--json',
        '--seed',
        '1'
      ],
      unpacked
    )
    expect(JSON.parse(json)).toHaveLength(2)
  })

  test('is in order for those who check packages', () => {
    run(join(root, 'node_modules/.bin/publint'), ['--strict', unpacked], root)
    run(join(root, 'node_modules/.bin/attw'), [unpacked, '--pack', '--profile', 'esm-only'], root)
  })

  test('ships no tests', () => {
    expect(run('find', ['.', '-name', '*.test.*'], unpacked)).toBe('')
  })
})
