// Makes a fresh clone ready: installs the packages when the lock file is newer than what is
// installed, and builds when a source is newer than the build. Quiet when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const modifiedMs = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

function newestMs(folder) {
  let newest = 0
  if (!existsSync(folder)) return newest
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    newest = Math.max(newest, entry.isDirectory() ? newestMs(path) : modifiedMs(path))
  }
  return newest
}

function run(what, command, args) {
  process.stderr.write(`${what}...\n`)
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (result.error) process.stderr.write(`setup: ${command}: ${result.error.message}\n`)
  if (result.status !== 0) process.exit(result.status ?? 1)
}

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 11)) {
  process.stderr.write(
    `setup: Node.js 20.11 or newer is needed, this is ${process.versions.node}\n`
  )
  process.exit(1)
}

const installed = join(root, 'node_modules', '.package-lock.json')
if (modifiedMs(join(root, 'package-lock.json')) > modifiedMs(installed)) {
  // Not `npm ci`: the lock file names the native parts of the platforms at hand only, which it would refuse elsewhere.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  run('Installing packages', 'npm', ['install', '--no-save', ...quiet])
}

const stamp = join(root, 'dist', '.built')
const sources = Math.max(
  ...['src', 'sim', 'bench', 'web'].map((f) => newestMs(join(root, f))),
  modifiedMs(join(root, 'scripts', 'build-web.mjs')),
  modifiedMs(join(root, 'tsconfig.build.json')),
  modifiedMs(join(root, 'tsconfig.base.json'))
)
if (sources > modifiedMs(stamp)) {
  run('Building', process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    'tsconfig.build.json'
  ])
  run('Building the dashboard', process.execPath, [join(root, 'scripts', 'build-web.mjs')])
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, '')
}
