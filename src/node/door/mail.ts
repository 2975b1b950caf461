/** What the doors of other nodes say to this one, besides the commands of their clients and the answers to those of this one's. */
import type { Message } from '../../wire/peer/message.js'
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'
import type { Errands } from './errands.js'
import type { RemoteSessions } from './remote-sessions.js'

export class Mail {
  readonly #cluster: Cluster
  readonly #errands: Errands
  readonly #remotes: RemoteSessions

  constructor(cluster: Cluster, errands: Errands, remotes: RemoteSessions) {
    this.#cluster = cluster
    this.#errands = errands
    this.#remotes = remotes
  }

  /** Undefined if it is not for the door; else whether some client may go on because of it. */
  take(peer: Peer, message: Message): boolean | undefined {
    const { blocked, shared, notifications, tracking, repetitions } = this.#errands
    switch (message.kind) {
      case 'ask': {
        const { peers, now } = this.#cluster
        const payload = this.#errands.answer(message.payload)
        peers.send(peer, { kind: 'told', id: message.id, payload }, now)
        return true
      }
      case 'told':
        this.#errands.told(peer, message.id, message.payload)
        return true
      case 'unblock': {
        // A command of another node's client that waits here must not do so any longer.
        const session = this.#remotes.get(peer, message.lane)
        if (session !== undefined) blocked.unblockRemote(session, message.how)
        return true
      }
      case 'ready':
        blocked.onReady(message.id)
        return true
      case 'await':
        blocked.onAwait(peer, message.id, message.keys)
        return false
      case 'setting':
        shared.learn(message.name, message.value, message.version)
        return false
      case 'notes':
        repetitions.once.onNotes(peer, message)
        return false
      case 'invalidate':
        tracking.invalidate(message.key, message.by)
        return false
      case 'keyEvent':
        notifications.onKeyEvent(message.key, message.names)
        return false
      default:
        return undefined
    }
  }
}
