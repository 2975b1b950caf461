/**
 * What nodes say to each other as there are more of them, counted in a simulated cluster without clients: at rest, and until
 * one more node has its share. No peer is measured beside it: a Redis Cluster moves nothing by itself.
 */
import type { Bench } from '../bench.js'
import { SimulatedCluster } from '../simulated-cluster.js'

export const GROUP = 'scale'
const REST_MS = 2000
const JOIN_MS_MAX = 600_000

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
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
    const rows: readonly (readonly [string, string, number])[] = [
      ['messages at rest a node', '1/s', rest.messages / perSecond / nodes],
      ['traffic at rest a node', 'KB/s', rest.bytes / perSecond / nodes / 1024],
      ['traffic of one more node', 'KB', joinBytes / 1024]
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
