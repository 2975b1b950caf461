/**
 * `opencluster simulate`: whole clusters in one process, or with `--joins` the balancing rules alone. Everything
 * that happens is drawn from a seed; chance enters here and nowhere below.
 */
import { randomInt } from 'node:crypto'
import { runClusters } from './cluster-run.js'
import { defineVerb } from './command.js'
import { runGrowth } from './growth-run.js'
import { checkSimulate, SEED_MAX, SIMULATE_OPTIONS } from './simulate-options.js'

export const simulate = defineVerb({
  name: 'simulate',
  summary: 'whole clusters, or the balancing rules alone, in one process from a seed',
  description: [
    'Runs a whole cluster with clients, in simulated time: nodes join, leave and crash, the network loses',
    'and delays, and every promise is checked, while things go wrong and when all has come to rest. Ends with',
    'the line `N passed, M failed`, and with 0, or for the first seed that failed: 127 a node crashed by',
    'itself, 128 the cluster did not come to rest, 129 a promise was broken.',
    '',
    'With --joins, the balancing rules alone: nodes join one after another and the cluster comes to rest in',
    'between. For each size: how far apart totals and primaries are, how many copies were shipped and how',
    'many had to be, how many times primary and backup changed places, and how many rounds of asking it took.'
  ].join('\n'),
  example: [
    'opencluster simulate --seed 7 --seeds 20 --faults crash',
    'opencluster simulate --joins 1..6 --buckets 16 --rules 2014 --seed 7',
    'opencluster simulate --joins 1..12 --weights 1,2,1 --zones x,y --json'
  ].join('\n  '),
  options: SIMULATE_OPTIONS,
  check: checkSimulate,
  run: (values, output) => {
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
