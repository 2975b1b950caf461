// Runs every kind of test, cheapest first, several at a time where that saves waiting, and stops after the first group
// in which something failed. With arguments, runs only the named steps: `node scripts/test.mjs lint unit`.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const npm = (script) => ['npm', ['run', '--silent', script]]
const vitest = (...projects) => [
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', ...projects.flatMap((project) => ['--project', project])]
]

// The longest first. Tests with real processes and real schedulers wait most of the time; simulation and units fill it.
const groups = [
  {
    atOnce: 2,
    steps: [
      ['lint', ...npm('lint')],
      ['types', ...npm('check')],
      ['format', ...npm('format:check')],
      ['boundaries', ...npm('boundaries')],
      ['dead', ...npm('dead')]
    ]
  },
  {
    atOnce: 3,
    steps: [
      ['integration', ...vitest('integration')],
      ['schedulers', ...vitest('elastic')],
      ['doors', ...vitest('conformance', 'cli')],
      ['unit', ...vitest('unit', 'transcripts', 'docs', 'package')],
      ['sim', ...vitest('sim')]
    ]
  },
  // By itself: a browser and its nodes need the processor.
  { atOnce: 1, steps: [['browser', ...vitest('browser')]] }
]

const names = groups.flatMap(({ steps }) => steps.map(([name]) => name))
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`test: no step ${unknown.join(', ')}; there are: ${names.join(', ')}\n`)
  process.exit(2)
}

/** Tells what it said when it has ended, so that two of them do not talk at the same time. */
function run([name, command, args]) {
  const started = performance.now()
  return new Promise((resolve) => {
    const pieces = []
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece) => pieces.push(piece))
    child.on('error', (error) => pieces.push(Buffer.from(`${error.message}\n`)))
    child.on('close', (status) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      process.stdout.write(Buffer.concat(pieces))
      process.stderr.write(`${status === 0 ? 'ok' : 'FAILED'} ${name} (${seconds} s)\n`)
      resolve(status === 0)
    })
  })
}

for (const { atOnce, steps } of groups) {
  const left = steps.filter(([name]) => wanted.length === 0 || wanted.includes(name))
  let passed = true
  const worker = async () => {
    for (let step = left.shift(); step !== undefined; step = left.shift()) {
      if (!(await run(step))) passed = false
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (!passed) process.exit(1)
}
