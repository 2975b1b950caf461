// The package as its users get it: packed, unpacked elsewhere, imported and run.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const run = (command: string, args: string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** What somebody fetches to try it. */
const TARBALL_BYTES_MAX = 1.25 * 1024 * 1024

describe('the package', () => {
  let folder: string
  let unpacked: string
  let tarball: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'opencluster-package-'))
    const packed = run(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
      root
    )
    tarball = join(folder, packed.trim().split('\n').at(-1) ?? '')
    run('tar', ['xzf', tarball], folder)
    unpacked = join(folder, 'package')
    // What it depends on; the test below installs it for real.
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  }, 60_000)

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

  test('is small and complete', () => {
    expect(statSync(tarball).size).toBeLessThan(TARBALL_BYTES_MAX)
    const files = run('find', ['.', '-type', 'f'], unpacked).trim().split('\n')
    for (const wanted of ['./bin/opencluster', './dist/src/index.d.ts', './dist/web/index.html']) {
      expect(files).toContain(wanted)
    }
    expect(files.filter((path) => /\.(?:ts|tsx)$/.test(path) && !path.endsWith('.d.ts'))).toEqual(
      []
    )
  })

  test('installs on a clean machine and runs from there: command, page, client, types', async () => {
    // Not below the folder above, whose modules would be found from here.
    const home = mkdtempSync(join(tmpdir(), 'opencluster-clean-'))
    writeFileSync(
      join(home, 'package.json'),
      '{ "name": "clean", "private": true, "type": "module" }'
    )
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    run('npm', ['install', ...quiet, tarball], home)
    const words = ['start', '--port', '0', '--http-port', '0', '--name', 'clean']
    const node = spawn(join(home, 'node_modules', '.bin', 'opencluster'), words, { cwd: home })
    try {
      const ready = await new Promise<string>((resolve, reject) => {
        let text = ''
        node.stdout.on('data', (bytes: Buffer) => {
          text += bytes.toString()
          if (text.includes('\n')) resolve(text)
        })
        node.once('close', (code) => reject(new Error(`ended with ${String(code)}`)))
      })
      const [, resp, http] = /^opencluster ready name=clean resp=(\S+) http=(\S+)$/m.exec(ready)!
      expect(await (await fetch(`http://${http}/`)).text()).toContain('<div id="app">')
      expect(await (await fetch(`http://${http}/metrics`)).text()).toContain(
        'opencluster_serving 1'
      )
      const program = [
        "import { connect } from 'opencluster'",
        `const db = await connect('${resp}')`,
        "await db.set('a', 'from the package')",
        "const text: string | null = await db.get('a')",
        'console.log(text)',
        'await db.close()',
        ''
      ].join('\n')
      writeFileSync(join(home, 'program.mjs'), program.replace(': string | null', ''))
      expect(run(process.execPath, ['program.mjs'], home)).toBe('from the package\n')
      writeFileSync(join(home, 'program.mts'), program)
      const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
      run(join(root, 'node_modules/.bin/tsc'), [...options, ...types, 'program.mts'], home)
    } finally {
      node.kill('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    }
  })

  test('is in order for those who check packages', () => {
    run(join(root, 'node_modules/.bin/publint'), ['--strict', unpacked], root)
    run(join(root, 'node_modules/.bin/attw'), [unpacked, '--pack', '--profile', 'esm-only'], root)
  })

  test('ships no tests', () => {
    expect(run('find', ['.', '-name', '*.test.*'], unpacked)).toBe('')
  })
})
