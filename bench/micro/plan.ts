/**
 * What it costs a node to decide: one question (whom to ask) and one answer (what to do), on a table of 4096
 * buckets. While a newcomer is being filled, with a change of the table before every decision, so that nothing that
 * was computed from it is still fresh, and without; and at rest, where every node does this for ever.
 */
import { assert } from '../../src/core/assert.js'
import { NOBODY, type NodeIndex } from '../../src/core/ids.js'
import { CurrentRules } from '../../src/core/placement/current.js'
import { Random } from '../../src/core/random.js'
import { MAX_COPIES, type Table } from '../../src/core/table.js'
import { BalanceCluster } from '../../sim/balance/cluster.js'
import { measure, type Measurement } from './measure.js'

export interface PlanOptions {
  readonly buckets: number
  /** Cluster sizes before the newcomer. */
  readonly nodes: readonly number[]
  /** Decisions in each measurement. */
  readonly rounds: number
}

const COPIES = 2

export function run({ buckets, nodes, rounds }: PlanOptions): Measurement[] {
  const results: Measurement[] = []
  for (const size of nodes) {
    const cluster = new BalanceCluster({ buckets, copies: COPIES, rules, seed: size })
    for (let place = 0; place < size; place++) cluster.join(`n${place}`)
    assert(cluster.settle(), 'the cluster must come to rest before it is measured')
    results.push(decide(`plan at rest, ${size} nodes`, cluster, { rounds, fresh: true }))
    cluster.join('newcomer')
    const filling = `plan for a newcomer to ${size} nodes`
    results.push(
      decide(`${filling}, table unchanged`, cluster, { rounds, fresh: true }),
      decide(`${filling}, table changed`, cluster, { rounds, fresh: false })
    )
  }
  return results
}

const rules = new CurrentRules()

/** The old nodes decide in turn; what they decide is counted and not done, so that each round is alike. */
function decide(
  name: string,
  cluster: BalanceCluster,
  { rounds, fresh }: { rounds: number; fresh: boolean }
): Measurement {
  const random = new Random(1)
  const nodes = cluster.nodes
  const views = nodes.map((node) => cluster.viewOf(node))
  const askers = Math.max(1, views.length - 1)
  const { table } = cluster
  return measure(name, rounds, () => {
    let actions = 0
    for (let round = 0; round < rounds; round++) {
      if (!fresh) touch(table, round & table.mask)
      const view = views[round % askers]
      const asked = rules.ask(view, random)
      // Even a node that has nothing to ask for gets answers now and then, to older questions.
      const other = asked === NOBODY ? nodes[(round + 1) % nodes.length] : asked
      if (rules.plan(view, cluster.viewOf(other).own).action !== undefined) actions++
    }
    return actions
  })
}

/** A row gets a higher epoch and keeps its holders: news, but nothing to do. */
function touch(table: Table, bucket: number): void {
  const holders: NodeIndex[] = []
  for (let place = 0; place < MAX_COPIES; place++) {
    const holder = table.holderAt(bucket, place)
    if (holder !== NOBODY) holders.push(holder)
  }
  table.replace(bucket, table.epochOf(bucket) + 1, holders)
}
