/**
 * `opencluster start`: one node in the foreground. The first line on stdout says that it serves and where. SIGTERM and
 * SIGINT make it leave: it hands its copies over and ends; a second SIGINT ends it at once.
 */
import { parseArgs } from 'node:util'
import { loadSettings, type Loaded } from '../config/load.js'
import { NODE_OPTIONS, type Settings } from '../config/options.js'
import { OpenClusterError } from '../errors.js'
import { VERSION } from '../index.js'
import { Log } from '../runtime/log.js'
import {
  launch,
  type Departure,
  type LaunchOptions,
  type RunningNode
} from '../runtime/running-node.js'
import type { Door } from '../runtime/access.js'
import { launchRing, type RingAccess, type RunningRingNode } from '../runtime/ring-node.js'
import { isAlias, translateAlias } from './ring-alias.js'
import { defineVerb, EXIT, type Output, type Verb } from './command.js'

/** Ended by the second SIGINT: 128 and the number of the signal, as shells have it. */
const EXIT_INTERRUPTED = 130
/** Progress for files and pipes; a terminal sees every step. */
const PROGRESS_MS = 500
/** Whatever may still hold the process, it ends so long after the node. */
const LINGER_MS_MAX = 1000

export const start: Verb = {
  name: 'start',
  summary: 'one node in the foreground',
  run: async (argv, output) => {
    let words = argv
    if (isAlias(argv)) {
      try {
        words = await translateAlias(argv)
      } catch (error) {
        if (!(error instanceof OpenClusterError)) throw error
        output.stderr.write(`opencluster start: ${error.message}\n`)
        return EXIT.usage
      }
    }
    return createStart().run(joinRepeated(joinRepeated(words, 'join'), 'positions'), output)
  }
}

/** A node that holds nothing and only votes: with it, two nodes are three that can decide by majority. */
export const witness: Verb = {
  name: 'witness',
  summary: 'a node that holds no data and only votes',
  run: (argv, output) => createWitness().run(joinRepeated(argv, 'join'), output)
}

/** Set by a process that wants its nodes to end with it, over the channel Node gives to children. */
export const TIED_VARIABLE = 'OPENCLUSTER_TIED'

function createStart(): Verb {
  return createVerb(start, {
    description: [
      'Without --join it is the first node of a cluster of its own. Every option may also stand in the',
      'environment (OPENCLUSTER_PORT) or in a JSON file (--config): a flag wins over the environment, and',
      'that over the file.'
    ].join('\n'),
    example: 'opencluster start --port 13601 --join 127.0.0.1:13600'
  })
}

function createWitness(): Verb {
  return createVerb(witness, {
    description: [
      'It joins like any node, takes no bucket, and counts as one of those who decide. Beside two nodes it makes a',
      'majority of what would otherwise be two halves; clients can use it like any other node.'
    ].join('\n'),
    example: 'opencluster witness --port 13609 --join 127.0.0.1:13600',
    isWitness: true
  })
}

function createVerb(
  { name, summary }: Verb,
  texts: { description: string; example: string; isWitness?: boolean }
): Verb {
  let loaded: Loaded | undefined
  const { description, example, isWitness = false } = texts
  return defineVerb({
    name,
    summary,
    description,
    example,
    options: NODE_OPTIONS,
    check: (values, given) => {
      const flags = new Map<string, unknown>()
      for (const [name, value] of Object.entries(values))
        if (given.has(name)) flags.set(name, value)
      loaded = loadSettings({ flags, env: process.env })
      const alone = isWitness && loaded.settings.join.length === 0
      const problem = '--join: a witness needs a cluster to vote in'
      return [
        ...loaded.problems,
        ...(alone ? [new OpenClusterError('OC_MISSING_OPTION', problem)] : [])
      ]
    },
    run: (_values, output) => serve((loaded ?? loadSettings({})).settings, output, isWitness)
  })
}

/** `--join a --join b` is `--join a,b`. */
function joinRepeated(argv: readonly string[], name: string): string[] {
  const options = Object.fromEntries(
    Object.keys(NODE_OPTIONS).map((known) => [known, { type: 'string' as const }])
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const found = tokens.flatMap((token) =>
    token.kind === 'option' && token.name === name && token.value !== undefined ? [token] : []
  )
  if (found.length < 2) return [...argv]
  const taken = new Set(
    found.flatMap(({ index, inlineValue }) => (inlineValue ? [index] : [index, index + 1]))
  )
  const rest = argv.filter((_, index) => !taken.has(index))
  return [`--${name}=${found.map(({ value }) => value).join(',')}`, ...rest]
}

async function serve(settings: Settings, output: Output, isWitness: boolean): Promise<number> {
  const { logLevel: level, logFormat: format } = settings
  const log = new Log({ level, format, write: (line) => output.stderr.write(line) })
  if (process.env[TIED_VARIABLE] === '1') {
    process.once('disconnect', () => process.exit(0))
    process.channel?.unref()
  }
  const running: { node?: Pick<RunningNode, 'leave'> } = {}
  let departure: Promise<Departure> | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    const { node } = running
    if (node === undefined) process.exit(EXIT.success)
    if (departure === undefined) {
      log.info('leaving', { signal })
      departure = node.leave()
    } else if (signal === 'SIGINT') process.exit(EXIT_INTERRUPTED)
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const onLeaving = createProgress(output)
  const node =
    settings.placement === 'ring'
      ? await startRing(settings, { log, onLeaving })
      : await launch({
          ...{ settings, version: VERSION, log, onLeaving, witness: isWitness },
          ...(await createDoors(settings))
        })
  running.node = node
  const http = node.http ?? 'off'
  output.stdout.write(`opencluster ready name=${node.name} resp=${node.address} http=${http}\n`)
  await node.closed
  const { left } = (await departure) ?? { left: true }
  const code = left ? EXIT.success : EXIT.failure
  setTimeout(() => process.exit(code), LINGER_MS_MAX).unref()
  return code
}

async function startRing(
  settings: Settings,
  options: Pick<LaunchOptions, 'log'> & Required<Pick<LaunchOptions, 'onLeaving'>>
): Promise<RunningRingNode> {
  const { host, advertise, httpPort: port } = settings
  if (port === 'off') throw new Error('--http-port off: the data of a ring are at its HTTP door')
  const { startRingHttp } = await import('../server/http/ring-server.js')
  const openHttp = (node: RingAccess): Promise<Door> =>
    startRingHttp({ node, host, port, advertise })
  return launchRing({ settings, version: VERSION, openHttp, ...options })
}

/** The server is loaded only where there is to be one. */
async function createDoors({
  host,
  httpPort: port
}: Settings): Promise<Pick<LaunchOptions, 'openHttp'>> {
  if (port === 'off') return {}
  const { startHttp } = await import('../server/http/server.js')
  return { openHttp: (node) => startHttp({ node, host, port }) }
}

function createProgress({ stderr }: Output): (handedOver: number, total: number) => void {
  let writtenMs = -Infinity
  return (handedOver, total) => {
    const text = `leaving: ${handedOver} of ${total} copies handed over`
    if (stderr.isTTY === true) {
      stderr.write(`\r${text}${handedOver === total ? '\n' : ''}`)
      return
    }
    const now = performance.now()
    if (handedOver < total && now - writtenMs < PROGRESS_MS) return
    writtenMs = now
    stderr.write(`${text}\n`)
  }
}
