/**
 * `opencluster loadbalance CLUSTER` (`bal`): the elastic load balancer, until Ctrl-C. The first Ctrl-C lets the steps
 * that run come to their end, the second one ends them; either way the next start goes on where this one stopped.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acquireLock, type Lock } from '../elastic/lock.js'
import { runLoop } from '../elastic/loop.js'
import { createElastic } from '../elastic/setup.js'
import { StateStore } from '../elastic/state-store.js'
import { defineVerb, EXIT, type Output, type Verb } from './command.js'
import {
  LOADBALANCE_OPTIONS,
  translateSpelling,
  type LoadbalanceValues
} from './loadbalance-options.js'
import { createObservers } from './loadbalance-observers.js'
import { loadLoadbalanceSettings, type LoadbalanceSettings } from './loadbalance-settings.js'
import { definePositionalVerb } from './positional.js'

/** From dist/src/cli. */
const COMMAND = fileURLToPath(new URL('../../../bin/opencluster', import.meta.url))
const DEFAULT_NODE = '127.0.0.1:13600'

const SUMMARY = 'the elastic load balancer: adds hosts when jobs wait, removes them when they idle'

export const loadbalance = createVerb('loadbalance', SUMMARY)
export const bal = createVerb('bal', 'the same as loadbalance')

function createVerb(name: string, summary: string): Verb {
  return {
    name,
    summary,
    run: (argv, output) => {
      const words = translateSpelling(argv)
      if (words.includes('--help') || words.includes('-h')) return help(name, output)
      return definePositionalVerb({
        name,
        summary,
        ...TEXTS,
        options: LOADBALANCE_OPTIONS,
        words: ['CLUSTER'],
        run: ([cluster], values, to) => balance(name, cluster, values, to)
      }).run(words, output)
    }
  }
}

const TEXTS = {
  description: [
    'Asks the scheduler at every interval, decides, and carries hosts through the steps of being added and removed.',
    'It remembers what it does in the state folder and can be stopped and started at any moment; only one acts on a',
    'cluster at a time. docs/elastic.md explains the configuration file and the rules.'
  ].join('\n'),
  example: 'opencluster loadbalance CLUSTER --config cluster.json --max_nodes 10 --explain'
}

/** Without the words that are needed to run. */
function help(name: string, output: Output): number | Promise<number> {
  const options = LOADBALANCE_OPTIONS
  const verb = defineVerb({ name, summary: SUMMARY, ...TEXTS, options, run: () => EXIT.success })
  return verb.run(['--help'], output)
}

async function balance(
  name: string,
  cluster: string,
  flags: LoadbalanceValues,
  output: Output
): Promise<number> {
  const loaded = loadLoadbalanceSettings(cluster, flags, process.env)
  if (loaded.problems.length > 0) {
    for (const { message } of loaded.problems) {
      output.stderr.write(`opencluster ${name}: ${message}\n`)
    }
    return EXIT.usage
  }
  const isDryRun = loaded.values['dry-run'] === true
  let lock: Lock | undefined
  if (!isDryRun) {
    mkdirSync(loaded.stateFolder, { recursive: true })
    lock = acquireLock(join(loaded.stateFolder, 'lock'))
  }
  const signals = catchSignals(output)
  const controlFolder = mkdtempSync(join(tmpdir(), 'oc-ssh-'))
  try {
    const isGood = await runElastic({ cluster, loaded, controlFolder, output, signals })
    return isGood ? EXIT.success : EXIT.failure
  } finally {
    rmSync(controlFolder, { recursive: true, force: true })
    signals.release()
    lock?.release()
  }
}

interface Signals {
  readonly stopping: AbortSignal
  readonly abort: AbortSignal
  release(): void
}

function catchSignals({ stderr }: Output): Signals {
  const stopping = new AbortController()
  const abort = new AbortController()
  const onSignal = (): void => {
    if (stopping.signal.aborted) {
      abort.abort()
      return
    }
    stderr.write('stopping after the steps that run; again to stop at once\n')
    stopping.abort()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return {
    stopping: stopping.signal,
    abort: abort.signal,
    release: () => {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    }
  }
}

interface Run {
  readonly cluster: string
  readonly loaded: LoadbalanceSettings
  readonly controlFolder: string
  readonly output: Output
  readonly signals: Signals
}

async function runElastic(run: Run): Promise<boolean> {
  const { cluster, loaded, controlFolder, output, signals } = run
  const { settings, stateFolder, values } = loaded
  const isOnce = values.once === true
  const isDryRun = values['dry-run'] === true
  const isJson = values.json === true
  const stream = isJson ? output.stderr : output.stdout
  const report = (line: string): void => {
    // What runs on has a time before each line; what is looked at once has not.
    stream.write(isOnce ? `${line}\n` : `${new Date().toISOString().slice(0, 19)}Z ${line}\n`)
  }
  const now = Date.now
  const store = new StateStore(join(stateFolder, 'state.json'), now(), { isReadOnly: isDryRun })
  const node = settings.source.node ?? DEFAULT_NODE
  const start = ['start', '--name', '{name}', '--port', '0', '--join', node]
  const elastic = createElastic({
    cluster,
    settings,
    stateFolder,
    controlFolder,
    store,
    nodeArgv: [process.execPath, COMMAND, ...start, '--log-level', 'warn'],
    statusArgv: [process.execPath, COMMAND, 'status', '--json'],
    isDryRun,
    isExplaining: values.explain === true,
    now,
    report
  })
  const { source, provider } = settings
  const { intervalMs, hostsMin, hostsMax } = elastic.config
  const observers = await createObservers({
    values,
    stateFolder,
    store,
    frame: {
      cluster,
      source: source.kind ?? '',
      provider: provider.kind ?? '',
      dryRun: isDryRun,
      intervalMs,
      limits: { hostsMin, hostsMax }
    },
    report
  })
  try {
    return await runLoop({
      balancer: elastic.balancer,
      work: elastic.work,
      intervalMs,
      progressMs: settings.progressMs,
      isOnce,
      isDryRun,
      observers,
      now,
      report,
      onDecision: isJson
        ? (decision) => output.stdout.write(`${JSON.stringify(decision)}\n`)
        : undefined,
      stopping: signals.stopping,
      abort: signals.abort
    })
  } finally {
    for (const observer of observers) await observer.close?.()
  }
}
