/**
 * `opencluster simulate --joins A..B`: the balancing rules alone, with no data and no sockets. Nodes join one
 * after another, the cluster comes to rest in between, and each size is shown. Who asks whom when is drawn
 * from the seed; chance enters here and nowhere below.
 */
import { randomInt } from 'node:crypto'
import { OpenClusterError } from '../errors.js'
import { assert } from '../core/assert.js'
import { MASKS } from '../core/mask.js'
import { createRuleSet, RULE_SETS } from '../core/placement/rule-sets.js'
import type { RuleSet } from '../core/placement/rule.js'
import { MAX_COPIES } from '../core/table.js'
import { BalanceCluster, type ActionEvent } from '../../sim/balance/cluster.js'
import { grow, shrink, type GrowthOptions, type Size } from '../../sim/balance/growth.js'
import { drawCluster, isDrawable } from '../../sim/balance/picture.js'
import {
  describeAction,
  describeSize,
  formatAction,
  formatSizeCaption,
  formatSizeHeader,
  formatSizeLine,
  type SizeEvent
} from './balance-report.js'
import { defineVerb, EXIT, type Output } from './command.js'
import {
  choice,
  flag,
  integer,
  listChoices,
  optionalInteger,
  readInteger,
  type Option,
  type Parsed,
  type Values
} from './options.js'
import { Progress } from './progress.js'

const NODES_MAX = 256
const SEED_MAX = 0xffff_ffff
const SPLIT_AT_MAX = 1024
/** Pictures wider than this do not fit a terminal; `--picture` draws a few more. */
const PICTURE_NODES_USUAL = 8

interface Range {
  readonly from: number
  readonly to: number
}

const OPTIONS = {
  joins: range('from how many nodes to how many the cluster grows'),
  leaves: flag('then let them leave again, down to the first size'),
  buckets: buckets('how many buckets there are'),
  copies: integer('copies of each bucket, the primary included', 2, { min: 1, max: MAX_COPIES }),
  rules: choice<RuleSet['name']>('the balancing rules', 'current', RULE_SETS),
  seed: optionalInteger('who asks whom when; drawn and printed if not given', {
    min: 0,
    max: SEED_MAX
  }),
  'split-at': integer('cut the buckets in 16 when the ideal falls to this; 0 never', 0, {
    min: 0,
    max: SPLIT_AT_MAX
  }),
  json: flag('print an array with one object per cluster size'),
  explain: flag('print each action with its reason'),
  picture: flag('draw small tables bucket by bucket (--no-picture: figures only)')
}

type SimulateValues = Values<typeof OPTIONS>

export const simulate = defineVerb({
  name: 'simulate',
  summary: 'the balancing rules alone, in one process from a seed',
  description: [
    'Nodes join one after another and the cluster comes to rest in between. For each size: how far',
    'apart totals and primaries are, how many copies were shipped and how many had to be, how many',
    'times primary and backup changed places, and how many rounds of asking it took.'
  ].join('\n'),
  example: 'opencluster simulate --joins 1..6 --buckets 16 --rules 2014 --seed 7',
  options: OPTIONS,
  check,
  run
})

function range(help: string): Option<Range | undefined> {
  const parse = (text: string): Parsed<Range> => {
    const [from, to, ...rest] = text.split('..').map(readInteger)
    if (from === undefined || to === undefined || rest.length > 0 || from < 1 || from > to) {
      return { problem: 'must be two whole numbers such as 1..6, the smaller first' }
    }
    if (to > NODES_MAX) return { problem: `there can be ${NODES_MAX} nodes at the most` }
    return { value: { from, to } }
  }
  const required = '--joins 1..6'
  return {
    kind: 'value',
    help,
    placeholder: 'A..B',
    initial: undefined,
    shown: '',
    parse,
    required
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

function check(values: SimulateValues): OpenClusterError[] {
  const problems: OpenClusterError[] = []
  const { joins, copies, rules } = values
  if (joins !== undefined && copies > joins.to) {
    const text = `--copies ${copies}: needs ${copies} nodes, but --joins ends at ${joins.to}`
    problems.push(new OpenClusterError('OC_OPTION_CONFLICT', text))
  }
  if (rules !== 'current' && copies !== 2) {
    const text = `--copies ${copies}: the rules of ${rules} know 2 copies`
    problems.push(new OpenClusterError('OC_OPTION_CONFLICT', text))
  }
  return problems
}

function run(values: SimulateValues, output: Output): number {
  const { joins } = values
  assert(joins !== undefined, 'a required option is there')
  const seed = values.seed ?? randomInt(SEED_MAX)
  const rules = createRuleSet(values.rules)
  const report = new Report(values, output, rules)
  if (values.seed === undefined) {
    // Programs that read the array from stdout find the seed on the other stream.
    const stream = values.json ? output.stderr : output.stdout
    stream.write(`seed ${seed}\n`)
  }
  const options: GrowthOptions = {
    ...joins,
    buckets: values.buckets,
    copies: values.copies,
    rules,
    seed,
    splitAt: values['split-at'],
    roundsMax: roundsMaxOf(values),
    onSize: (size, cluster) => report.size(size, cluster),
    onAction: (event, cluster) => report.action(event, cluster)
  }
  const cluster = new BalanceCluster(options)
  grow(cluster, options)
  if (values.leaves) {
    report.event = 'leave'
    shrink(cluster, options)
  }
  report.end()
  return EXIT.success
}

/**
 * The rules of the documents may never come to rest, and so get a limit: a newcomer is sent at most
 * `buckets` copies, one a round, half of them are switched, and some rounds are lost to asking in vain.
 */
function roundsMaxOf({ rules, buckets }: SimulateValues): number {
  return rules === 'current' ? 200_000 : 500 + 3 * buckets
}

class Report {
  event: SizeEvent = 'join'
  readonly #values: SimulateValues
  readonly #output: Output
  readonly #rules: RuleSet
  readonly #progress: Progress
  readonly #entries: string[] = []
  #actions: Record<string, unknown>[] = []
  #last: 'nothing' | 'picture' | 'line' = 'nothing'

  constructor(values: SimulateValues, output: Output, rules: RuleSet) {
    this.#values = values
    this.#output = output
    this.#rules = rules
    const { from = 1, to = 1 } = values.joins ?? {}
    this.#progress = new Progress(output, (to - from + 1) * (values.leaves ? 2 : 1))
  }

  action(event: ActionEvent, cluster: BalanceCluster): void {
    const { explain, json } = this.#values
    if (!explain) return
    const { action, reason } = event.plan
    if (!json) {
      this.#write(formatAction(event, cluster.table))
      this.#last = 'nothing'
      return
    }
    const to = action === undefined || action.kind === 'split' ? -1 : action.to
    this.#actions.push({
      round: event.round,
      node: cluster.table.nameOf(event.node),
      ...(to < 0 ? {} : { to: cluster.table.nameOf(to) }),
      action: describeAction(action, cluster.table),
      reason
    })
  }

  size(size: Size, cluster: BalanceCluster): void {
    const { json, leaves, explain } = this.#values
    if (json) {
      const entry = describeSize(size, leaves ? this.event : undefined)
      this.#entries.push(JSON.stringify(explain ? { ...entry, actions: this.#actions } : entry))
      this.#actions = []
    } else if (this.#isDrawn(size, cluster)) {
      if (this.#last !== 'nothing') this.#write('')
      this.#write(formatSizeCaption(size))
      for (const line of drawCluster(cluster, this.#rules)) this.#write(line)
      this.#last = 'picture'
    } else {
      if (this.#last !== 'line') this.#write(formatSizeHeader())
      this.#write(formatSizeLine(size))
      this.#last = 'line'
    }
    this.#progress.advance(`${size.nodes} nodes`)
  }

  end(): void {
    this.#progress.clear()
    if (this.#values.json) this.#output.stdout.write(`[\n  ${this.#entries.join(',\n  ')}\n]\n`)
  }

  #isDrawn(size: Size, cluster: BalanceCluster): boolean {
    const { picture } = this.#values
    if (picture === false || !isDrawable(cluster.table, size.nodes)) return false
    return picture === true || size.nodes <= PICTURE_NODES_USUAL
  }

  #write(line: string): void {
    this.#progress.clear()
    this.#output.stdout.write(`${line}\n`)
  }
}
