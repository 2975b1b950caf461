/**
 * Joins and leaves one after another, with the cluster at rest in between: the run behind
 * `simulate --joins A..B`, and the one the contract of balancing is tested with.
 */
import type { RuleSet } from '../../src/core/placement/rule.js'
import type { ActionEvent, BalanceCluster } from './cluster.js'
import { countNeeded, measureSpread } from './measure.js'

export interface GrowthOptions {
  readonly from: number
  readonly to: number
  readonly buckets: number
  readonly copies: number
  readonly rules: RuleSet
  readonly seed: number
  /** Given to the nodes in the order in which they join, and again from the first. */
  readonly weights?: readonly number[]
  readonly zones?: readonly string[]
  readonly splitAt?: number
  readonly lag?: number
  readonly answerLag?: number
  readonly transferRounds?: number
  readonly roundsMax?: number
  readonly onSize?: (size: Size, cluster: BalanceCluster) => void
  readonly onAction?: (event: ActionEvent, cluster: BalanceCluster) => void
}

export interface Size {
  readonly nodes: number
  readonly buckets: number
  readonly totalsSpread: number
  readonly primariesSpread: number
  readonly shipped: number
  readonly minimum: number
  readonly switches: number
  readonly rounds: number
  /** The total and the primaries of every node are inside its share by weight and zone. */
  readonly withinShare: boolean
  /** False if the rules had not come to rest within the limit of rounds. */
  readonly settled: boolean
}

/** Names as the documents have them, as long as the alphabet lasts. */
export function documentName(place: number): string {
  return place < 26 ? `NODE-${String.fromCharCode(65 + place)}` : `NODE-${place + 1}`
}

/** Grows to `to` nodes; sizes from `from` on are reported. */
export function grow(cluster: BalanceCluster, options: GrowthOptions): Size[] {
  const sizes: Size[] = []
  const { weights = [1], zones = [''] } = options
  for (let nodes = 1; nodes <= options.to; nodes++) {
    const place = nodes - 1
    cluster.join(documentName(place), {
      weight: weights[place % weights.length],
      zone: zones[place % zones.length]
    })
    const size = rest(cluster, nodes, options.roundsMax)
    if (nodes < options.from) continue
    sizes.push(size)
    options.onSize?.(size, cluster)
  }
  return sizes
}

/** Shrinks from the size it has to `from` nodes, one graceful leave at a time, the eldest first. */
export function shrink(cluster: BalanceCluster, options: GrowthOptions): Size[] {
  const sizes: Size[] = []
  for (let nodes = cluster.nodes.length - 1; nodes >= options.from; nodes--) {
    cluster.leave(cluster.nodes[0])
    const size = rest(cluster, nodes, options.roundsMax)
    sizes.push(size)
    options.onSize?.(size, cluster)
  }
  return sizes
}

/** Runs to rest and reports what it took. */
export function rest(cluster: BalanceCluster, nodes: number, roundsMax = 200_000): Size {
  const before = { ...cluster.tally }
  const minimum = countNeeded(cluster)
  const settled = cluster.settle(roundsMax)
  const spread = measureSpread(cluster.table, cluster.roster)
  return {
    nodes,
    buckets: cluster.table.size,
    totalsSpread: spread.totals,
    primariesSpread: spread.primaries,
    shipped: cluster.tally.shipped - before.shipped,
    minimum,
    switches: cluster.tally.switches - before.switches,
    rounds: cluster.tally.rounds - before.rounds,
    withinShare: isWithinShares(cluster),
    settled
  }
}

function isWithinShares({ table, arrangement }: BalanceCluster): boolean {
  const { low, high, primaryLow, primaryHigh } = arrangement.shares
  return arrangement.roster.staying.every(({ node }) => {
    const [total, primaries] = [table.totalOf(node), table.primariesOf(node)]
    const isFair = total >= low[node] && total <= high[node]
    return isFair && primaries >= primaryLow[node] && primaries <= primaryHigh[node]
  })
}
