/**
 * The options of `loadbalance`. Document 004's names and single letters work as they did (`--max_nodes`, `-m`); their
 * values go into the policy, over what the configuration file says.
 */
import { parseAddress, type Address } from '../config/address.js'
import type { ScalingConfig } from '../core/scaling/config.js'
import { DEFAULT_CONFIG, POLICY_NAMES } from '../core/scaling/config.js'
import { PROVIDER_KINDS, SOURCE_KINDS } from '../elastic/settings.js'
import {
  flag,
  listChoices,
  readInteger,
  readPositive,
  type Option,
  type Values
} from './options.js'

const HOSTS_MAX = 100_000
const SECONDS_MAX = 31 * 86_400
const HOURS_MAX = 24 * 366
const KILL_AFTER_MAX = 59
const [SECOND_MS, HOUR_MS] = [1000, 3_600_000]

function number(
  help: string,
  shown: string,
  range: { min: number; max: number }
): Option<number | undefined> {
  const { min, max } = range
  const parse: Option<number | undefined>['parse'] = (text) => {
    const value = min === 0 ? readInteger(text) : (readInteger(text) ?? readPositive(text))
    return value !== undefined && value >= min && value <= max
      ? { value }
      : { problem: `must be a number from ${min} to ${max}` }
  }
  return { kind: 'value', help, placeholder: 'N', initial: undefined, shown, parse }
}

function text(help: string, placeholder: string): Option<string | undefined> {
  const parse = (value: string): { value: string } => ({ value })
  return { kind: 'value', help, placeholder, initial: undefined, shown: '', parse }
}

const PORT_MAX = 65_535

/** A port may be 0: any free one. */
function address(help: string, placeholder: string): Option<Address | undefined> {
  const parse: Option<Address | undefined>['parse'] = (given) => {
    const port = readInteger(given)
    if (port !== undefined && port >= 0 && port <= PORT_MAX) {
      return { value: { host: '127.0.0.1', port } }
    }
    const value = parseAddress(given)
    return value === undefined ? { problem: 'must be PORT or HOST:PORT' } : { value }
  }
  return { kind: 'value', help, placeholder, initial: undefined, shown: '', parse }
}

function optionalChoice<T extends string>(
  help: string,
  choices: readonly T[]
): Option<T | undefined> {
  const parse: Option<T | undefined>['parse'] = (given) => {
    const value = choices.find((choice) => choice === given)
    return value === undefined ? { problem: `must be ${listChoices(choices)}` } : { value }
  }
  return {
    kind: 'value',
    help,
    placeholder: choices.join('|'),
    initial: undefined,
    shown: '',
    parse
  }
}

const defaultSeconds = (ms: number): string => `${ms / SECOND_MS} s`

export const LOADBALANCE_OPTIONS = {
  config: text('a JSON file; `elastic` holds an object for each cluster', 'FILE'),
  source: optionalChoice('who knows the jobs and the hosts', SOURCE_KINDS),
  'source-command': text('for --source command: prints the facts as JSON', 'COMMAND'),
  provider: optionalChoice('who has the machines', PROVIDER_KINDS),
  node: text('for --source opencluster and --provider process: a node of the cluster', 'HOST:PORT'),
  once: flag('one pass; carries what it began to its end, for one interval at most'),
  'dry-run': flag('decide and say so, change nothing'),
  explain: flag('every rule, what it looked at and what it said'),
  json: flag('each decision as one JSON object on stdout, the rest on stderr'),
  'max-nodes': number('hosts at the most, the master included', String(DEFAULT_CONFIG.hostsMax), {
    min: 1,
    max: HOSTS_MAX
  }),
  'min-nodes': number('hosts at the least, the master included', String(DEFAULT_CONFIG.hostsMin), {
    min: 0,
    max: HOSTS_MAX
  }),
  interval: number('seconds from pass to pass', defaultSeconds(DEFAULT_CONFIG.intervalMs), {
    min: 0.1,
    max: SECONDS_MAX
  }),
  'add-nodes-per-iter': number(
    'hosts added in one pass at the most',
    String(DEFAULT_CONFIG.addPerPass),
    {
      min: 1,
      max: HOSTS_MAX
    }
  ),
  'kill-after': number('minute of its paid hour from which an idle host may go', '45', {
    min: 0,
    max: KILL_AFTER_MAX
  }),
  'idle-time': number('paid by the second: an idle host may go after so many seconds', '', {
    min: 0,
    max: SECONDS_MAX
  }),
  'job-wait-time': number(
    'seconds the oldest job must have waited',
    defaultSeconds(DEFAULT_CONFIG.jobWaitMs),
    {
      min: 0,
      max: SECONDS_MAX
    }
  ),
  'stabilization-time': number(
    'seconds of rest after adding or removing, for both',
    `up ${defaultSeconds(DEFAULT_CONFIG.cooldownUpMs)}, down ${defaultSeconds(DEFAULT_CONFIG.cooldownDownMs)}`,
    { min: 0, max: SECONDS_MAX }
  ),
  'lookback-window': number('hours of finished jobs that are looked at', '3 h', {
    min: 0.1,
    max: HOURS_MAX
  }),
  'kill-cluster': flag('end the master too when nothing runs or waits; the minimum is 0 then'),
  'dump-stats': flag('append a line of figures to a CSV file at every pass'),
  'dump-stats-file': text('that file, if not in the state folder', 'FILE'),
  'plot-stats': flag('draw the figures as SVG at every pass (and PNG, with rsvg-convert)'),
  'plot-output-dir': text('where the pictures go, if not to the state folder', 'FOLDER'),
  policy: optionalChoice(
    "document 004's criteria, or the forecast in charge (docs/elastic-policy.md)",
    POLICY_NAMES
  ),
  'metrics-port': address(
    'serve the metrics there for Prometheus, on this machine if no host is given',
    '[HOST:]PORT'
  ),
  dashboard: text('the HTTP door of a node on this machine, whose dashboard is told', 'HOST:PORT'),
  'metrics-file': text(
    "the last pass as Prometheus metrics, for node_exporter's textfile collector",
    'FILE'
  ),
  'state-dir': text(
    'where the state, the lock and the figures are kept, if not in the home folder',
    'FOLDER'
  )
} as const

export type LoadbalanceValues = Values<typeof LOADBALANCE_OPTIONS>

const LETTERS: Readonly<Record<string, string>> = {
  d: 'dump-stats',
  D: 'dump-stats-file',
  p: 'plot-stats',
  P: 'plot-output-dir',
  i: 'interval',
  m: 'max-nodes',
  n: 'min-nodes',
  w: 'job-wait-time',
  a: 'add-nodes-per-iter',
  k: 'kill-after',
  s: 'stabilization-time',
  l: 'lookback-window',
  K: 'kill-cluster'
}

/** Document 004's spelling as ours: `-m 5`, `--max_nodes 5`, `--add_nodes_per_iteration 2`. */
export function translateSpelling(argv: readonly string[]): string[] {
  return argv.map((word) => {
    const letter = /^-([A-Za-z])$/.exec(word)?.[1]
    if (letter !== undefined && Object.hasOwn(LETTERS, letter)) return `--${LETTERS[letter]}`
    const found = /^--([a-z][a-z_-]*)(=.*)?$/s.exec(word)
    if (found === null) return word
    const name = found[1]
      .replaceAll('_', '-')
      .replace(/^add-nodes-per-iteration$/, 'add-nodes-per-iter')
    return `--${name}${found.at(2) ?? ''}`
  })
}

/** What the flags say about the policy. */
export function readPolicyFlags(values: LoadbalanceValues): Partial<ScalingConfig> {
  const scaled = (value: number | undefined, unitMs: number): number | undefined =>
    value === undefined ? undefined : value * unitMs
  const rest = scaled(values['stabilization-time'], SECOND_MS)
  const idleMs = scaled(values['idle-time'], SECOND_MS)
  const killAfterMinutes = values['kill-after']
  const isEnding = values['kill-cluster'] === true
  const policy = {
    hostsMax: values['max-nodes'],
    hostsMin: values['min-nodes'] ?? (isEnding ? 0 : undefined),
    intervalMs: scaled(values.interval, SECOND_MS),
    addPerPass: values['add-nodes-per-iter'],
    jobWaitMs: scaled(values['job-wait-time'], SECOND_MS),
    cooldownUpMs: rest,
    cooldownDownMs: rest,
    lookbackMs: scaled(values['lookback-window'], HOUR_MS),
    killCluster: isEnding ? true : undefined,
    billing:
      idleMs !== undefined
        ? { kind: 'second', idleMs }
        : killAfterMinutes !== undefined
          ? { kind: 'hour', killAfterMinutes }
          : undefined
  }
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined))
}
