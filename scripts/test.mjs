// Runs every kind of test in order, cheapest first, and stops at the first that fails. With
// arguments, runs only the named steps: `node scripts/test.mjs lint unit`.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = (name) => join(root, 'node_modules', '.bin', name)
const npm = (script) => ['npm', ['run', '--silent', script]]

const steps = [
  ['format', ...npm('format:check')],
  ['types', ...npm('check')],
  ['lint', ...npm('lint')],
  ['boundaries', ...npm('boundaries')],
  ['dead', ...npm('dead')],
  ['tests', bin('vitest'), ['run', '--project', '!elastic', '--project', '!browser']],
  // By itself: a browser and its nodes need the processor.
  ['browser', bin('vitest'), ['run', '--project', 'browser']]
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !steps.some(([step]) => step === name))
if (unknown.length > 0) {
  process.stderr.write(
    `test: no step ${unknown.join(', ')}; there are: ${steps.map(([step]) => step).join(', ')}\n`
  )
  process.exit(2)
}
for (const [name, command, args] of steps) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const started = performance.now()
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stderr.write(`${result.status === 0 ? 'ok' : 'FAILED'} ${name} (${seconds} s)\n`)
  if (result.status !== 0) process.exit(result.status ?? 1)
}
