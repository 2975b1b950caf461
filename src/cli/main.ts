/**
 * The command `opencluster`: finds the verb, runs it, and turns what went wrong into one line on stderr and an
 * exit code (0 success, 1 failure, 2 wrong usage).
 */
import { OpenClusterError } from '../errors.js'
import { VERSION } from '../index.js'
import { EXIT, reportProblems, type Output, type Verb } from './command.js'

/** Loaded when it is wanted: a node need not wait for the simulator and the balancer before it starts. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  start: async () => (await import('./start.js')).start,
  demo: async () => (await import('./demo.js')).demo,
  status: async () => (await import('./status.js')).status,
  witness: async () => (await import('./start.js')).witness,
  leave: async () => (await import('./leave.js')).leave,
  forget: async () => (await import('./forget.js')).forget,
  get: async () => (await import('./data.js')).get,
  set: async () => (await import('./data.js')).set,
  del: async () => (await import('./data.js')).del,
  watch: async () => (await import('./watch.js')).watch,
  simulate: async () => (await import('./simulate.js')).simulate,
  bench: async () => (await import('./bench.js')).bench,
  loadbalance: async () => (await import('./loadbalance.js')).loadbalance,
  bal: async () => (await import('./loadbalance.js')).bal
}

export async function run(argv: readonly string[], output: Output = process): Promise<number> {
  if (output === process) endQuietlyWhenUnread()
  const name = argv.at(0)
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const stream = name === undefined ? output.stderr : output.stdout
    stream.write(await formatOverview())
    return name === undefined ? EXIT.usage : EXIT.success
  }
  if (name === '--version' || name === '-v') {
    output.stdout.write(`${VERSION}\n`)
    return EXIT.success
  }
  if (!Object.hasOwn(VERBS, name)) {
    reportProblems([describeUnknown(name)], 'opencluster', output)
    return EXIT.usage
  }
  try {
    const verb = await VERBS[name]()
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
  const names = Object.keys(VERBS).join(', ')
  return new OpenClusterError('OC_UNKNOWN_COMMAND', `${name}: no such command; there are: ${names}`)
}

async function formatOverview(): Promise<string> {
  const verbs = await Promise.all(Object.values(VERBS).map((load) => load()))
  const width = Math.max(...verbs.map((verb) => verb.name.length))
  return [
    'opencluster COMMAND [OPTIONS]: a self-balancing, elastic, in-memory data cluster',
    '',
    'Commands:',
    ...verbs.map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`),
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
