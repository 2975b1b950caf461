/** `opencluster status`: what a cluster looks like, once or every second, and why it is as it is. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Status } from '../runtime/status.js'
import { fetchClusterStatus, formatStatus } from './cluster-status.js'
import { defineVerb, EXIT } from './command.js'
import { flag } from './options.js'
import { nodeOption } from './resp-connection.js'
import { explainStatus, formatExplanation } from './status-explain.js'
import { styleFor } from './status-style.js'
import { watchStatus } from './status-watch.js'

const WATCH_MS = 1000

export const status = defineVerb({
  name: 'status',
  summary: 'nodes, load levels, the bucket table, moves in progress',
  description: [
    'Asks one node, and the others for what only they know. A table of 16 buckets is drawn as in the documents, a larger one as',
    'a map with the letters of the dashboard. Colours on a terminal, unless NO_COLOR is set; plain text elsewhere.'
  ].join('\n'),
  example: 'opencluster status --node 127.0.0.1:13600 --watch',
  options: {
    node: nodeOption(),
    json: flag('one JSON object; with --watch one a line, every second'),
    watch: flag('again every second, until Ctrl-C, with the progress of a rebalance'),
    explain: flag('why the balancer does or does not move something: every rule with its verdict')
  },
  run: async ({ node, json, watch, explain }, output) => {
    const style = styleFor(output.stdout, process.env)
    const format = (found: Status): string[] => [
      ...formatStatus(found, style),
      ...(explain === true ? formatExplanation(found, style) : [])
    ]
    const formatJson = (found: Status): string =>
      JSON.stringify(explain === true ? { ...found, explanation: explainStatus(found) } : found)
    if (watch === true && json !== true) return watchStatus({ node, output, style, format })
    for (;;) {
      const found = await fetchClusterStatus(node)
      output.stdout.write(
        json === true ? `${formatJson(found)}\n` : `${format(found).join('\n')}\n`
      )
      if (watch !== true) return EXIT.success
      await sleep(WATCH_MS)
    }
  }
})
