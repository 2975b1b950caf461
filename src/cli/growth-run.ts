/**
 * `simulate --joins A..B`: the balancing rules alone, with no data and no sockets. Nodes join one after another,
 * the cluster comes to rest in between, and each size is shown.
 */
import { createRuleSet } from '../core/placement/rule-sets.js'
import type { RuleSet } from '../core/placement/rule.js'
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
  type ReportStyle,
  type SizeEvent
} from './balance-report.js'
import { EXIT, type Output } from './command.js'
import { Progress } from './progress.js'
import type { Range } from '../../sim/seeds.js'
import type { SimulateValues } from './simulate-options.js'

/** Pictures wider than this do not fit a terminal; `--picture` draws a few more. */
const PICTURE_NODES_USUAL = 8

type GrowthValues = Omit<SimulateValues, 'joins' | 'seed'> & { joins: Range; seed: number }

export function runGrowth(values: GrowthValues, output: Output): number {
  const { seed, weights, zones } = values
  const rules = createRuleSet(values.rules)
  const report = new Report(values, output, rules)
  const options: GrowthOptions = {
    ...values.joins,
    buckets: values.buckets,
    copies: values.copies,
    rules,
    seed,
    ...(weights === undefined ? {} : { weights }),
    ...(zones === undefined ? {} : { zones }),
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
function roundsMaxOf({ rules, buckets }: GrowthValues): number {
  return rules === 'current' ? 200_000 : 500 + 3 * buckets
}

class Report {
  event: SizeEvent = 'join'
  readonly #values: GrowthValues
  readonly #output: Output
  readonly #rules: RuleSet
  readonly #style: ReportStyle
  readonly #progress: Progress
  readonly #entries: string[] = []
  #actions: Record<string, unknown>[] = []
  #last: 'nothing' | 'picture' | 'line' = 'nothing'

  constructor(values: GrowthValues, output: Output, rules: RuleSet) {
    this.#values = values
    this.#output = output
    this.#rules = rules
    this.#style = { shares: values.weights !== undefined || values.zones !== undefined }
    const { from, to } = values.joins
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
      const entry = describeSize(size, {
        ...this.#style,
        event: leaves ? this.event : undefined
      })
      this.#entries.push(JSON.stringify(explain ? { ...entry, actions: this.#actions } : entry))
      this.#actions = []
    } else if (this.#isDrawn(size, cluster)) {
      if (this.#last !== 'nothing') this.#write('')
      this.#write(formatSizeCaption(size, this.#style))
      for (const line of drawCluster(cluster, this.#rules)) this.#write(line)
      this.#last = 'picture'
    } else {
      if (this.#last !== 'line') this.#write(formatSizeHeader(this.#style))
      this.#write(formatSizeLine(size, this.#style))
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
