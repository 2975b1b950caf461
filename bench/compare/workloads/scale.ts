/**
 * What nodes say to each other as there are more of them, counted in a simulated cluster without clients: at rest, and until
 * one more node has its share. No peer is measured beside it: a Redis Cluster moves nothing by itself.
 */
import type { Bench } from '../bench.js'
import { SimulatedCluster } from '../simulated-cluster.js'

export const GROUP = 'scale'
const REST_MS = 2000
const JOIN_MS_MAX = 600_000

const FIGURES = ['messages at rest a node', 'traffic at rest a node', 'traffic of one more node']

export async function run(bench: Bench): Promise<void> {
  const isWanted = (what: string): boolean =>
    bench.sizes.nodes.some((nodes) => bench.wants(GROUP, `${what}, ${nodes} nodes`))
  if (!FIGURES.some(isWanted)) return
  const cluster = new SimulatedCluster()
  for (const nodes of bench.sizes.nodes) {
    while (cluster.size < nodes - 1) cluster.add()
    cluster.settle(JOIN_MS_MAX)
    cluster.add()
    const join = cluster.settle(JOIN_MS_MAX)
    const rest = cluster.rest(REST_MS)
    const perSecond = rest.ms / 1000
    // What is said anyway meanwhile is no part of the join.
    const joinBytes = Math.max(0, join.bytes - (rest.bytes / rest.ms) * join.ms)
    const [messages, traffic, growth] = FIGURES
    const rows: readonly (readonly [string, string, number])[] = [
      [messages, '1/s', rest.messages / perSecond / nodes],
      [traffic, 'KB/s', rest.bytes / perSecond / nodes / 1024],
      [growth, 'KB', joinBytes / 1024]
    ]
    for (const [what, unit, value] of rows) {
      const figure = {
        group: GROUP,
        name: `${what}, ${nodes} nodes`,
        unit,
        better: 'less'
      } as const
      const at = { series: `${what}, ${unit} over nodes`, x: nodes }
      const take = (): Promise<{ value: number }> => Promise.resolve({ value })
      await bench.measure({ ...figure, at, note: 'simulated' }, [{ label: 'opencluster', take }], 1)
    }
  }
}
