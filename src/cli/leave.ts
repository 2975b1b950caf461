/** `opencluster leave`: one node hands its copies over to the others and ends; this waits for it. */
import { fetchStatus } from './cluster-status.js'
import { defineVerb, EXIT } from './command.js'
import { nodeOption, withConnection } from './resp-connection.js'

const PROGRESS_MS = 250

export const leave = defineVerb({
  name: 'leave',
  summary: 'drain one node and stop it',
  description: [
    'The node hands its copies over to the others and ends; nothing is lost. Ends with 0 when it has left, with 1',
    'when its --leave-timeout was up before.'
  ].join('\n'),
  example: 'opencluster leave --node 127.0.0.1:13602',
  options: { node: nodeOption() },
  run: async ({ node }, output) => {
    const held = async (): Promise<number> => {
      const { node: name, nodes } = await fetchStatus(node)
      const own = nodes.find((one) => one.name === name)
      return own === undefined ? 0 : own.primaries + own.backups
    }
    const total = await held()
    let asking = false
    let shown = -1
    const timer = setInterval(() => {
      if (asking) return
      asking = true
      held()
        .then((copies) => {
          const done = Math.max(0, total - copies)
          if (done === shown) return
          shown = done
          output.stderr.write(`leaving: ${done} of ${total} copies handed over\n`)
        })
        // It is about to end; the answer to OC.LEAVE says how.
        .catch(() => undefined)
        .finally(() => (asking = false))
    }, PROGRESS_MS)
    try {
      await withConnection(node, (connection) => connection.call('OC.LEAVE'))
    } finally {
      clearInterval(timer)
    }
    output.stdout.write(`${node} has left\n`)
    return EXIT.success
  }
})
