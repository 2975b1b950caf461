/**
 * `opencluster demo --rules`: a cluster growing from one node to six, drawn as the balancing document draws it, and then
 * the figures for a larger one. The seed is fixed, so that what is shown can be talked about.
 */
import { CurrentRules } from '../core/placement/current.js'
import { BalanceCluster } from '../../sim/balance/cluster.js'
import { documentName, grow, type GrowthOptions } from '../../sim/balance/growth.js'
import { drawCluster } from '../../sim/balance/picture.js'
import { formatSizeCaption, formatSizeHeader, formatSizeLine } from './balance-report.js'
import type { Output } from './command.js'

const SEED = 1
const SMALL = { to: 6, buckets: 16 }
const LARGE = { to: 16, buckets: 256 }

export function showBalancing(output: Output): void {
  showSmall(output)
  showLarge(output)
}

function showSmall({ stdout }: Output): void {
  const options = prepare(SMALL)
  grow(new BalanceCluster(options), {
    ...options,
    onSize: (size, cluster) => {
      const name = documentName(size.nodes - 1)
      const what = size.nodes === 1 ? `${name} starts alone` : `${name} joins`
      stdout.write(`${what}. ${formatSizeCaption(size)}\n`)
      for (const line of drawCluster(cluster, options.rules)) stdout.write(`${line}\n`)
      stdout.write('\n')
    }
  })
}

function showLarge({ stdout }: Output): void {
  const options = prepare(LARGE)
  stdout.write(`The same with ${LARGE.buckets} buckets:\n${formatSizeHeader()}\n`)
  grow(new BalanceCluster(options), {
    ...options,
    onSize: (size) => stdout.write(`${formatSizeLine(size)}\n`)
  })
  stdout.write('\n')
}

function prepare({ to, buckets }: { to: number; buckets: number }): GrowthOptions {
  return { from: 1, to, buckets, copies: 2, rules: new CurrentRules(), seed: SEED }
}
