/** The options of `simulate`, in its three forms: whole clusters, the balancing rules alone (`--joins`), the load balancer (`--elastic`). */
import { OpenClusterError } from '../errors.js'
import { MASKS } from '../core/mask.js'
import { RULE_SETS } from '../core/placement/rule-sets.js'
import type { RuleSet } from '../core/placement/rule.js'
import { MAX_COPIES } from '../core/table.js'
import { DAY_NAMES, DAYS_DRAWN, ELASTIC_SETTINGS } from '../../sim/elastic/report.js'
import { FAULT_CLASSES } from '../../sim/faults.js'
import type { Range } from '../../sim/seeds.js'
import {
  choice,
  flag,
  integer,
  list,
  listChoices,
  optionalInteger,
  positive,
  readInteger,
  readPositive,
  type Option,
  type Parsed,
  type Values
} from './options.js'

export const SEED_MAX = 0xffff_ffff
const NODES_MAX = 256
const SPLIT_AT_MAX = 1024
const SEEDS_MAX = 1_000_000
/** Of a simulated cluster with all its messages; the rules alone go further. */
const CLUSTER_NODES_MIN = 2
const CLUSTER_NODES_MAX = 32
const MINUTES_MAX = 1440
const ZONE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

const COMMON = {
  seed: optionalInteger('what all chance is drawn from; drawn itself and printed if not given', {
    min: 0,
    max: SEED_MAX
  })
}

const CLUSTER = {
  seeds: integer('how many seeds to run, from --seed on', 1, { min: 1, max: SEEDS_MAX }),
  nodes: sizes('nodes at the beginning; with A..B each seed has its own number of them'),
  minutes: positive('how long things go wrong, in simulated time', 0.5, MINUTES_MAX),
  faults: choice('what goes wrong', 'all', FAULT_CLASSES),
  policy: choice('who may decide', 'majority', ['majority', 'available', 'auto']),
  cuts: choice('with --policy available: long ones make both sides go on by themselves', 'short', [
    'short',
    'long'
  ]),
  placement: choice('where keys belong', 'buckets', ['buckets', 'ring']),
  trace: flag('print every event')
}

const RULES = {
  joins: range('from how many nodes to how many the cluster grows: the balancing rules alone'),
  leaves: flag('then let them leave again, down to the first size'),
  buckets: buckets('how many buckets there are'),
  copies: integer('copies of each bucket, the primary included', 2, { min: 1, max: MAX_COPIES }),
  rules: choice<RuleSet['name']>('the balancing rules', 'current', RULE_SETS),
  weights: list({
    help: 'how much of the load the nodes take, in turn; 1 for each if not given',
    placeholder: '1,2,1',
    wanted: 'each weight must be a number above 0',
    lengthMax: NODES_MAX,
    read: readPositive
  }),
  zones: list({
    help: 'the zones the nodes stand in, in turn; copies are kept in different ones',
    placeholder: 'x,y,z',
    wanted: 'each zone must be a short name',
    lengthMax: NODES_MAX,
    read: (text) => (ZONE.test(text) ? text : undefined)
  }),
  'split-at': integer('cut the buckets in 16 when the ideal falls to this; 0 never', 0, {
    min: 0,
    max: SPLIT_AT_MAX
  }),
  json: flag('print an array with one object per cluster size, or per trace'),
  explain: flag('print each action with its reason'),
  picture: flag('draw small tables bucket by bucket (--no-picture: figures only)')
}

const ELASTIC = {
  elastic: flag('the load balancer: jobs against its policies, beside document 004'),
  workload: list({
    help: `what is replayed: ${listChoices(DAY_NAMES)}, or a file in the Standard Workload Format`,
    placeholder: 'NAME|FILE,…',
    wanted: 'each must be a name or a file',
    lengthMax: 16,
    read: (text) => (text === '' ? undefined : text)
  }),
  days: integer('how many days of each kind are drawn, from --seed on', DAYS_DRAWN, {
    min: 1,
    max: 1000
  }),
  hours: integer('how much of a file is replayed', 168, { min: 1, max: 24 * 366 }),
  'hosts-max': integer('hosts at the most, the master included', ELASTIC_SETTINGS.hostsMax, {
    min: 1,
    max: 10_000
  }),
  slots: integer('slots of a host', ELASTIC_SETTINGS.slotsPerHost, { min: 1, max: 10_000 }),
  'boot-time': integer('seconds a host takes to come up', ELASTIC_SETTINGS.bootMs / 1000, {
    min: 1,
    max: 86_400
  }),
  price: positive('of an hour of a host', ELASTIC_SETTINGS.pricePerHour, 1_000_000),
  json: RULES.json
}

export const SIMULATE_OPTIONS = { ...COMMON, ...CLUSTER, ...RULES, ...ELASTIC }

/** Each form with the options that are its own; the first needs none to be chosen. */
const FORMS = { cluster: CLUSTER, joins: RULES, elastic: ELASTIC } as const

export type SimulateValues = Values<typeof SIMULATE_OPTIONS>

function range(help: string): Option<Range | undefined> {
  const parse = (text: string): Parsed<Range> => {
    const [from, to, ...rest] = text.split('..').map(readInteger)
    if (from === undefined || to === undefined || rest.length > 0 || from < 1 || from > to) {
      return { problem: 'must be two whole numbers such as 1..6, the smaller first' }
    }
    if (to > NODES_MAX) return { problem: `there can be ${NODES_MAX} nodes at the most` }
    return { value: { from, to } }
  }
  return { kind: 'value', help, placeholder: 'A..B', initial: undefined, shown: '', parse }
}

/** How many nodes a simulated cluster begins with: one number, or from how many to how many. */
function sizes(help: string): Option<Range> {
  const parse = (text: string): Parsed<Range> => {
    const ends = text.split('..').map(readInteger)
    const [from, to] = [ends[0], ends.at(-1)]
    const isRange = from !== undefined && to !== undefined && ends.length <= 2 && from <= to
    if (!isRange || from < CLUSTER_NODES_MIN || to > CLUSTER_NODES_MAX) {
      const limits = `from ${CLUSTER_NODES_MIN} to ${CLUSTER_NODES_MAX}`
      return { problem: `must be a whole number ${limits}, or two such as 3..6` }
    }
    return { value: { from, to } }
  }
  return {
    kind: 'value',
    help,
    placeholder: 'N|A..B',
    initial: { from: 5, to: 5 },
    shown: '5',
    parse
  }
}

function buckets(help: string): Option<number> {
  const sizes = MASKS.map((mask) => mask + 1)
  const parse = (text: string): Parsed<number> => {
    const value = sizes.find((size) => size === readInteger(text))
    return value === undefined ? { problem: `must be ${listChoices(sizes)}` } : { value }
  }
  return { kind: 'value', help, placeholder: 'N', initial: 256, shown: '256', parse }
}

/** What is wrong with options that are each right by themselves. */
export function checkSimulate(
  values: SimulateValues,
  given: ReadonlySet<string>
): OpenClusterError[] {
  const problems: OpenClusterError[] = []
  const complain = (text: string): void => {
    problems.push(new OpenClusterError('OC_OPTION_CONFLICT', text))
  }
  const { joins, copies, rules } = values
  const form = given.has('joins') ? 'joins' : given.has('elastic') ? 'elastic' : 'cluster'
  for (const name of given) {
    if (Object.hasOwn(COMMON, name) || Object.hasOwn(FORMS[form], name)) continue
    if (Object.hasOwn(CLUSTER, name)) complain(`--${name}: only without --${form}`)
    else if (Object.hasOwn(RULES, name)) complain(`--${name}: only with --joins`)
    else if (Object.hasOwn(ELASTIC, name)) complain(`--${name}: only with --elastic`)
  }
  if (given.has('cuts') && values.policy !== 'available') {
    complain('--cuts: only with --policy available; with the others they are as they come')
  }
  if (joins !== undefined && copies > joins.to) {
    complain(`--copies ${copies}: needs ${copies} nodes, but --joins ends at ${joins.to}`)
  }
  if (rules !== 'current') {
    if (copies !== 2) complain(`--copies ${copies}: the rules of ${rules} know 2 copies`)
    for (const name of ['weights', 'zones'] as const) {
      if (values[name] !== undefined) complain(`--${name}: the rules of ${rules} know no ${name}`)
    }
  }
  return problems
}
