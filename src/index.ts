/** The public door of the package. */
import { loadSettings } from './config/load.js'
import type { Settings } from './config/options.js'
import { OpenClusterError } from './errors.js'
import { Log } from './runtime/log.js'
import { launch, type RunningNode } from './runtime/running-node.js'

export { ERRORS, OpenClusterError, type ErrorCode } from './errors.js'
export type { Departure, LeaveOptions, RunningNode } from './runtime/running-node.js'
export type { BucketStatus, MoveStatus, NodeStatus, Status } from './runtime/status.js'
export type { Settings } from './config/options.js'

export const VERSION = '0.1.0'

/** As the options of `opencluster start`, all of them optional: `dead-after-ms` is `deadAfterMs`. */
export type StartOptions = Partial<Settings>

/** Starts a node inside this process. Resolves when it is part of its cluster and serves. */
export async function startNode(options: StartOptions = {}): Promise<RunningNode> {
  const { settings, problems } = loadSettings({ given: { logLevel: 'warn', ...options } })
  if (problems.length > 0) {
    const messages = problems.map(({ message }) => message).join('\n')
    throw new OpenClusterError(problems[0].code, messages)
  }
  const { logLevel: level, logFormat: format } = settings
  const log = new Log({ level, format, write: (line) => process.stderr.write(line) })
  return launch({ settings, version: VERSION, log })
}
