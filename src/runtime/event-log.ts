/** What a node reports, as lines of the log: one a decision, with its reason. */
import type { NodeEvent } from '../node/outbox.js'
import { STRUCK } from '../node/repair.js'
import type { Fields, Log } from './log.js'

type RowEvent = Extract<NodeEvent, { kind: 'row' }>

export function logEvent(log: Log, event: NodeEvent): void {
  const { kind, ...rest } = event
  switch (kind) {
    case 'joined':
    case 'leaving':
    case 'left':
    case 'returned':
      log.info(kind, rest as Fields)
      return
    case 'split':
      log.info(kind, { buckets: event.mask + 1, reason: event.reason })
      return
    case 'voters':
      log.info(kind, { ...rest, voters: event.voters.join(',') } as Fields)
      return
    case 'isolated':
      log.warn('cut off', { node: event.node, reason: 'it hears no majority and serves nothing' })
      return
    case 'serving':
      log.info('serves again', { node: event.node, reason: 'it hears a majority again' })
      return
    case 'died':
      log.warn(kind, { node: event.node, reason: 'nothing was heard of it for too long' })
      return
    case 'promoted': {
      const { bucket, epoch, instead } = event
      log.decision('took over', { bucket, epoch, instead, reason: `${instead} is gone` })
      return
    }
    case 'stage':
      logStage(log, event)
      return
    case 'lost':
      log.decision('a bucket was lost with all its copies', rest as Fields, 'error')
      return
    case 'conflict':
      log.each('both sides of a cut wrote a key; the newer version stays', rest as Fields, 'warn')
      return
    case 'peerError': {
      const { node, reason } = event
      log.limited(`peer ${node} ${reason}`, 'does not understand a node', { node, reason })
      return
    }
    case 'row':
      if (event.reason === STRUCK) logStruck(log, event)
      log.debug(kind, { ...event, backups: event.backups.join(',') })
      return
    default:
      log.debug(kind, rest as Fields)
  }
}

/** A copy less, decided here. */
function logStruck(log: Log, { bucket, epoch, backups, reason }: RowEvent): void {
  log.decision('struck a backup', { bucket, epoch, left: backups.length, reason }, 'warn')
}

/** A move is one decision; its stages are details. */
function logStage(log: Log, event: Extract<NodeEvent, { kind: 'stage' }>): void {
  const { bucket, from, to, role, stage, sent, isSwitch, reason } = event
  const copy = isSwitch ? 'role' : role
  if (stage === 'done') log.decision('moved', { bucket, copy, from, to, items: sent, reason })
  else if (stage === 'cancelled') log.decision('move cancelled', { bucket, copy, from, to, reason })
  else log.debug('move', { bucket, copy, from, to, stage, items: sent, reason })
}
