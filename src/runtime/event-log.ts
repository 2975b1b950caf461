/** What a node reports, as lines of the log: one a decision, with its reason. */
import type { NodeEvent } from '../node/outbox.js'
import type { Fields, Log } from './log.js'

export function logEvent(log: Log, event: NodeEvent): void {
  const { kind, ...rest } = event
  switch (kind) {
    case 'joined':
    case 'leaving':
    case 'left':
    case 'returned':
    case 'split':
    case 'voters':
      log.info(kind, rest as Fields)
      return
    case 'died':
      log.warn(kind, rest as Fields)
      return
    case 'lost':
      log.error('a bucket was lost with all its copies', rest as Fields)
      return
    case 'peerError': {
      const { node, reason } = event
      log.limited(`peer ${node} ${reason}`, 'does not understand a node', { node, reason })
      return
    }
    case 'row':
      log.debug(kind, { ...event, backups: event.backups.join(',') })
      return
    default:
      log.debug(kind, rest as Fields)
  }
}
