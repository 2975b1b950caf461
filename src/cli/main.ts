/**
 * The command `opencluster`: finds the verb, runs it, and turns what went wrong into one line on stderr and an
 * exit code (0 success, 1 failure, 2 wrong usage).
 */
import { OpenClusterError } from '../errors.js'
import { VERSION } from '../index.js'
import { bench } from './bench.js'
import { EXIT, reportProblems, type Output, type Verb } from './command.js'
import { del, get, set } from './data.js'
import { demo } from './demo.js'
import { forget } from './forget.js'
import { leave } from './leave.js'
import { bal, loadbalance } from './loadbalance.js'
import { simulate } from './simulate.js'
import { start, witness } from './start.js'
import { status } from './status.js'
import { watch } from './watch.js'

const VERBS: readonly Verb[] = [
  start,
  demo,
  status,
  witness,
  leave,
  forget,
  get,
  set,
  del,
  watch,
  simulate,
  bench,
  loadbalance,
  bal
]

export async function run(argv: readonly string[], output: Output = process): Promise<number> {
  if (output === process) endQuietlyWhenUnread()
  const name = argv.at(0)
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const stream = name === undefined ? output.stderr : output.stdout
    stream.write(formatOverview())
    return name === undefined ? EXIT.usage : EXIT.success
  }
  if (name === '--version' || name === '-v') {
    output.stdout.write(`${VERSION}\n`)
    return EXIT.success
  }
  const verb = VERBS.find((candidate) => candidate.name === name)
  if (verb === undefined) {
    reportProblems([describeUnknown(name)], 'opencluster', output)
    return EXIT.usage
  }
  try {
    return await verb.run(argv.slice(1), output)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    output.stderr.write(`opencluster ${name}: ${message}\n`)
    return EXIT.failure
  }
}

function describeUnknown(name: string): OpenClusterError {
  if (name.startsWith('-')) {
    return new OpenClusterError('OC_UNKNOWN_OPTION', `${name}: no such option; see --help`)
  }
  const names = VERBS.map((verb) => verb.name).join(', ')
  return new OpenClusterError('OC_UNKNOWN_COMMAND', `${name}: no such command; there are: ${names}`)
}

function formatOverview(): string {
  const width = Math.max(...VERBS.map((verb) => verb.name.length))
  return [
    'opencluster COMMAND [OPTIONS]: a self-balancing, elastic, in-memory data cluster',
    '',
    'Commands:',
    ...VERBS.map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`),
    '',
    'Options:',
    '  --version  the version of this program',
    '  --help     this text; after a command: its options and an example',
    '',
    'Example:',
    '  opencluster start --port 13601 --join 127.0.0.1:13600',
    ''
  ].join('\n')
}

/** `opencluster simulate … | head` closes the pipe early, which is no failure. */
function endQuietlyWhenUnread(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(EXIT.success)
  })
}
