/**
 * `opencluster simulate`: whole clusters in one process, with `--joins` the balancing rules alone, with `--elastic` the
 * load balancer. Everything
 * that happens is drawn from a seed; chance enters here and nowhere below.
 */
import { randomInt } from 'node:crypto'
import { runClusters } from './cluster-run.js'
import { defineVerb } from './command.js'
import { runElasticDays } from './elastic-run.js'
import { runGrowth } from './growth-run.js'
import { checkSimulate, SEED_MAX, SIMULATE_OPTIONS } from './simulate-options.js'

export const simulate = defineVerb({
  name: 'simulate',
  summary: 'whole clusters, the balancing rules or the load balancer, in one process from a seed',
  description: [
    'Runs a whole cluster with clients, in simulated time: nodes join, leave and crash, the network loses',
    'and delays, and every promise is checked, while things go wrong and when all has come to rest. Ends with',
    'the line `N passed, M failed`, and with 0, or for the first seed that failed: 127 a node crashed by',
    'itself, 128 the cluster did not come to rest, 129 a promise was broken.',
    '',
    'With --joins, the balancing rules alone: nodes join one after another and the cluster comes to rest in',
    'between. For each size: how far apart totals and primaries are, how many copies were shipped and how',
    'many had to be, how many times primary and backup changed places, and how many rounds of asking it took.',
    '',
    'With --elastic, the load balancer: drawn days of jobs, or a trace in the Standard Workload Format, replayed',
    "against document 004's rules as written and as coded, the default policy and the prompt one. For each: how",
    'long tasks waited, what the hosts cost, and how many were added, removed and asked for again at once.'
  ].join('\n'),
  example: [
    'opencluster simulate --seed 7 --seeds 20 --faults crash',
    'opencluster simulate --joins 1..6 --buckets 16 --rules 2014 --seed 7',
    'opencluster simulate --joins 1..12 --weights 1,2,1 --zones x,y --json',
    'opencluster simulate --elastic --workload burst --days 4',
    'opencluster simulate --elastic --workload trace.swf --hours 72 --hosts-max 40 --slots 16'
  ].join('\n  '),
  options: SIMULATE_OPTIONS,
  check: checkSimulate,
  run: (values, output) => {
    // The days are the same for everybody unless other ones are asked for.
    if (values.elastic === true) return runElasticDays(values, output)
    const seed = values.seed ?? randomInt(SEED_MAX)
    if (values.seed === undefined) {
      // Programs that read the array from stdout find the seed on the other stream.
      const stream = values.json ? output.stderr : output.stdout
      stream.write(`seed ${seed}\n`)
    }
    const { joins } = values
    if (joins === undefined) return runClusters({ ...values, seed }, output)
    return runGrowth({ ...values, joins, seed }, output)
  }
})
