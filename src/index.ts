/** The public door of the package. */
import { loadSettings } from './config/load.js'
import type { Settings } from './config/options.js'
import { OpenClusterError } from './errors.js'
import { Log } from './runtime/log.js'
import { launch, type LaunchOptions, type RunningNode } from './runtime/running-node.js'

export { connect, type Client, type ClusterView, type CommandOptions } from './client/client.js'
export type { Argument } from './client/argument.js'
export type { ClusterMap } from './client/cluster-map.js'
export type { ClusterQueue, QueueItem, TakeOptions } from './client/cluster-queue.js'
export type { RangeOptions } from './client/collection-commands.js'
export type { Counter } from './client/counter.js'
export type { ScanOptions } from './client/key-commands.js'
export type { AcquireOptions, HeldLock, Lock, LockOptions } from './client/lock.js'
export type { OnceOptions } from './client/once.js'
export type { ClientOptions } from './client/options.js'
export { ReplyError, type ScoredMember, type TextReply } from './client/reply.js'
export type { ExpiryOptions, SetOptions } from './client/string-commands.js'
export type { GapEvent, KeyEvent, WatchEvent, WatchStream } from './client/watch-stream.js'
export { ERRORS, OpenClusterError, type ErrorCode } from './errors.js'
export type { Departure, LeaveOptions, RunningNode } from './runtime/running-node.js'
export type { BucketStatus, MoveStatus, NodeStatus, Status } from './runtime/status.js'
export type { Settings } from './config/options.js'

/** Of this package. */
export const VERSION = '0.1.0'

/** As the options of `opencluster start`, all of them optional: `dead-after-ms` is `deadAfterMs`. */
export type StartOptions = Partial<Settings>

/**
 * Starts a node inside this process. Resolves when it is part of its cluster and serves. It has an HTTP door only if
 * `httpPort` is given: a program that embeds a node has one of its own as a rule.
 */
export async function startNode(options: StartOptions = {}): Promise<RunningNode> {
  const { settings, problems } = loadSettings({ given: { logLevel: 'warn', ...options } })
  if (problems.length > 0) {
    const messages = problems.map(({ message }) => message).join('\n')
    throw new OpenClusterError(problems[0].code, messages)
  }
  if (settings.placement === 'ring') {
    const message = 'placement ring: a node of a ring is a process of its own, `opencluster start`'
    throw new OpenClusterError('OC_OPTION_CONFLICT', message)
  }
  const { logLevel: level, logFormat: format } = settings
  const log = new Log({ level, format, write: (line) => process.stderr.write(line) })
  const { host, httpPort: port } = settings
  if (port === undefined || port === 'off') return launch({ settings, version: VERSION, log })
  const { startHttp } = await import('./server/http/server.js')
  const openHttp: LaunchOptions['openHttp'] = (node) => startHttp({ node, host, port })
  return launch({ settings, version: VERSION, log, openHttp })
}
