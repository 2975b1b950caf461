/** `opencluster status`: what a cluster looks like, once or every second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { fetchClusterStatus, formatStatus } from './cluster-status.js'
import { defineVerb, EXIT, type Output } from './command.js'
import { flag } from './options.js'
import { nodeOption } from './resp-connection.js'

const WATCH_MS = 1000
const CLEAR_SCREEN = '\u001b[H\u001b[2J'

export const status = defineVerb({
  name: 'status',
  summary: 'nodes, load levels, the bucket table, moves in progress',
  description: [
    'Asks one node, and the others for what only they know. A table of 16 buckets is drawn bucket by',
    'bucket, a larger one is a line a node.'
  ].join('\n'),
  example: 'opencluster status --node 127.0.0.1:13600 --watch',
  options: {
    node: nodeOption(),
    json: flag('one JSON object'),
    watch: flag('again every second, until Ctrl-C')
  },
  run: async ({ node, json, watch }, output) => {
    const show = async (): Promise<void> => {
      const found = await fetchClusterStatus(node)
      const text = json === true ? JSON.stringify(found) : formatStatus(found).join('\n')
      output.stdout.write(`${watch === true && isTerminal(output) ? CLEAR_SCREEN : ''}${text}\n`)
    }
    await show()
    while (watch === true) {
      await sleep(WATCH_MS)
      await show().catch((error: unknown) => {
        output.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
      })
    }
    return EXIT.success
  }
})

function isTerminal(output: Output): boolean {
  return output === process && process.stdout.isTTY
}
