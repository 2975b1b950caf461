// Runs the Redis project's own test suite, from Debian's source package, against our nodes, and ends with
// "N passed, M failed, K skipped". Nothing of the suite is kept in the repository: it is fetched into
// node_modules/.cache, and left where it is for the next time. It needs tclsh (Debian's package tcl, installed when this
// runs as root) and a built `opencluster`.
//
//   node scripts/redis-suite.mjs [--cluster] [--port N] [--verbose] [unit …]
//
// Without --cluster it talks to one node. With it, each unit talks to one node of three while a fourth joins and leaves
// again and again, so that buckets are split and keep moving. With --port, to whatever listens there.
// What is left out and why is in test/redis-suite/skipped.txt and, for moving clusters, skipped-moving.txt.
// A node that ends without being told to is a failure, and what it said last is shown.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const cache = join(root, 'node_modules', '.cache', 'redis-suite')
const source = join(cache, 'redis')

const UNITS = [
  ...['string', 'incr', 'hash', 'list', 'list-3', 'set', 'zset'].map((name) => `unit/type/${name}`),
  ...['expire', 'keyspace', 'scan', 'pubsub', 'multi', 'quit', 'bitops', 'bitfield', 'sort'].map(
    (name) => `unit/${name}`
  ),
  ...['hyperloglog', 'geo', 'tracking', 'introspection', 'introspection-2', 'dump'].map(
    (name) => `unit/${name}`
  ),
  ...['lazyfree', 'other', 'pause', 'slowlog', 'latency-monitor'].map((name) => `unit/${name}`)
]
// What an external server cannot be asked for, or takes too long.
const TAGS =
  '-slow -needs:debug -needs:repl -needs:save -needs:config-maxmemory -needs:config-resetstat -needs:pfdebug -needs:reset'
// Half an hour is for machines with better things to do.
const UNIT_MS_MAX = 1_800_000
const START_MS_MAX = 60_000
const SAID_CHARS_MAX = 20_000

function fail(text) {
  process.stderr.write(`redis-suite: ${text}\n`)
  process.exit(3)
}

function findTcl() {
  const found = () => ['/usr/bin/tclsh8.6', '/usr/bin/tclsh'].find(existsSync)
  if (found() === undefined && process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const apt = (...args) => spawnSync('apt-get', args, { timeout: 300_000, env })
    apt('update')
    apt('install', '-y', '--no-install-recommends', 'tcl')
  }
  return found() ?? fail('tclsh is missing; install the package tcl')
}

// Debian's source package, without touching the machine's own apt set-up.
function fetchSource() {
  if (existsSync(join(source, 'tests', 'test_helper.tcl'))) return
  mkdirSync(join(cache, 'lists', 'partial'), { recursive: true })
  const lists = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']
  const list = lists.find(existsSync) ?? fail('no sources of packages are known here')
  const own = join(cache, list.endsWith('.sources') ? 'source.sources' : 'source.list')
  const text = readFileSync(list, 'utf8')
    .replace(/^Types: deb$/gm, 'Types: deb-src')
    .replace(/^deb /gm, 'deb-src ')
  writeFileSync(own, text)
  const options = [
    `Dir::Etc::sourcelist=${own}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${join(cache, 'lists')}`,
    'APT::Sandbox::User=root'
  ].flatMap((option) => ['-o', option])
  const run = (command, ...args) => {
    const { status, stderr } = spawnSync(command, args, { cwd: cache, encoding: 'utf8' })
    if (status !== 0) fail(`${command} ${args.at(-1)}: ${stderr}`)
  }
  run('apt-get', '-qq', ...options, 'update')
  run('apt-get', '-qq', ...options, 'source', '--download-only', 'redis')
  const packed = readdirSync(cache).find((name) => /^redis_.*\.orig\.tar\.\w+$/.test(name))
  if (packed === undefined) fail('the package was not downloaded')
  mkdirSync(source, { recursive: true })
  run('tar', 'xf', packed, '-C', source, '--strip-components=1')
}

// The names without the reasons.
function readSkipped(...files) {
  return files
    .flatMap((file) => readFileSync(join(root, 'test', 'redis-suite', file), 'utf8').split('\n'))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

const started = new Set()
// Nodes that ended though nobody told them to, with what they said.
const fallen = []

function start(command, args, options) {
  const child = spawn(command, args, options)
  started.add(child)
  child.ended = new Promise((resolve) => {
    child.once('close', (code, signal) => {
      started.delete(child)
      resolve(code ?? signal)
    })
  })
  return child
}

process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

async function startNode(name, ...args) {
  const options = ['start', '--port', '0', '--http-port', 'off', '--name', name, ...args]
  const child = start(process.execPath, ['bin/opencluster', ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  child.text = ''
  child.stdout.on('data', (bytes) => (child.text += bytes))
  child.said = ''
  child.stderr.on('data', (bytes) => (child.said = (child.said + bytes).slice(-SAID_CHARS_MAX)))
  child.ended.then((how) => {
    if (child.killed && (how === 0 || how === 'SIGKILL')) return
    fallen.push(`[node ${name} ended]: ${how}`)
    process.stdout.write(`${fallen.at(-1)}\n${child.said}\n`)
  })
  const limit = performance.now() + START_MS_MAX
  while (child.address === undefined) {
    child.address = /^opencluster ready .*resp=(\S+)/m.exec(child.text)?.[1]
    if (performance.now() > limit || child.exitCode !== null) fail(`${name} does not start`)
    await pause(20)
  }
  return child
}

// Three nodes with few buckets, and a fourth that comes and goes: the first time it comes, all are split.
class MovingCluster {
  rounds = 0
  #ended = false
  #moving

  async start() {
    // Nobody dies in here, though on a busy machine nodes may be late.
    const few = ['--buckets', '16', '--split-at', '8', '--dead-after-ms', '5000']
    this.first = await startNode('a', ...few)
    this.others = await Promise.all(
      ['b', 'c'].map((name) => startNode(name, ...few, '--join', this.first.address))
    )
    await pause(1500)
    this.#moving = this.#move(few)
    return Number(this.first.address.split(':')[1])
  }

  async #move(few) {
    while (!this.#ended) {
      const guest = await startNode(`d${this.rounds}`, ...few, '--join', this.first.address)
      await pause(1500)
      guest.kill('SIGTERM')
      await guest.ended
      this.rounds++
      await pause(200)
    }
  }

  async stop() {
    this.#ended = true
    await this.#moving
    const nodes = [this.first, ...this.others]
    for (const node of nodes) node.kill('SIGKILL')
    await Promise.all(nodes.map((node) => node.ended))
  }
}

/** What the nodes that run said last: why something could not be served is in there. */
function showNodes() {
  for (const { said, spawnargs } of started) {
    if (said !== undefined) process.stdout.write(`${spawnargs.join(' ')}:\n${said.slice(-4000)}\n`)
  }
}

const COLORS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')

// One unit of the suite against a port; counts what it says.
async function runUnit(tcl, unit, { port, skipFile, verbose }) {
  const profile = ['--cluster-mode', '--ignore-encoding', '--ignore-digest', '--durable']
  const args = ['tests/test_helper.tcl', '--host', '127.0.0.1', '--port', String(port)]
  // The suite listens itself; two runs at once need not meet.
  args.push('--baseport', String(22_000 + (process.pid % 400) * 25))
  args.push(
    '--single',
    unit,
    ...profile,
    '--timeout',
    '1500',
    '--skipfile',
    skipFile,
    '--tags',
    TAGS
  )
  const child = start(tcl, args, { cwd: source, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += bytes))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    // Its own group: the suite starts other processes.
    process.kill(-child.pid, 'SIGKILL')
  }, UNIT_MS_MAX)
  await child.ended
  clearTimeout(timer)
  const plain = text.replace(COLORS, '')
  const of = (kind) => plain.match(new RegExp(`^\\[${kind}\\]: .*$`, 'gm')) ?? []
  const failures = [...of('err'), ...of('exception')]
  const isWhole = !isLate && /^ *The End$/m.test(plain)
  if (!isWhole && failures.length === 0)
    failures.push(`[${isLate ? 'late' : 'broken off'}]: ${unit}`)
  if (verbose || failures.length > 0) process.stdout.write(`${plain}\n`)
  return {
    passed: of('ok').length,
    failures,
    skipped: of('skip').length,
    ignored: of('ignore').length
  }
}

function readArguments(words) {
  const options = { units: [], cluster: false, verbose: false, port: undefined }
  while (words.length > 0) {
    const word = words.shift()
    if (word === '--cluster') options.cluster = true
    else if (word === '--verbose') options.verbose = true
    else if (word === '--port') options.port = Number(words.shift())
    else if (word.startsWith('-')) fail(`unknown option ${word}`)
    else options.units.push(word.startsWith('unit/') ? word : `unit/${word}`)
  }
  if (options.units.length === 0) options.units = UNITS
  return options
}

const { units, cluster, verbose, port } = readArguments(process.argv.slice(2))
const tcl = findTcl()
fetchSource()
const folder = mkdtempSync(join(tmpdir(), 'opencluster-redis-suite-'))
const skipFile = join(folder, 'skipped.txt')
const files = cluster ? ['skipped.txt', 'skipped-moving.txt'] : ['skipped.txt']
writeFileSync(skipFile, readSkipped(...files).join('\n'))

const sums = { passed: 0, failures: [], skipped: 0 }
const single = cluster || port !== undefined ? undefined : await startNode('suite')
for (const unit of units) {
  const began = performance.now()
  const moving = cluster ? new MovingCluster() : undefined
  const target = port ?? (moving ? await moving.start() : Number(single.address.split(':')[1]))
  const { passed, failures, skipped, ignored } = await runUnit(tcl, unit, {
    port: target,
    skipFile,
    verbose
  })
  if (failures.length > 0) showNodes()
  await moving?.stop()
  failures.push(...fallen.splice(0))
  sums.passed += passed
  sums.failures.push(...failures)
  sums.skipped += skipped
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const rounds = moving ? `, ${moving.rounds} joins and leaves` : ''
  const counts = `${passed} passed, ${failures.length} failed, ${skipped} skipped`
  process.stdout.write(
    `${unit}: ${counts}, ${ignored} not in the profile (${seconds} s${rounds})\n`
  )
}
rmSync(folder, { recursive: true, force: true })
single?.kill('SIGKILL')
for (const line of sums.failures) process.stdout.write(`${line}\n`)
process.stdout.write(
  `${sums.passed} passed, ${sums.failures.length} failed, ${sums.skipped} skipped\n`
)
process.exit(sums.failures.length === 0 && sums.passed > 0 ? 0 : 1)
