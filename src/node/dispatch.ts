/**
 * What other nodes say, handed to the part of this node that it is for. Nothing is decided here but one thing: who does
 * not belong to a cluster yet takes no part in its decisions.
 */
import type { BucketRow } from '../wire/peer/knowledge.js'
import type { Message } from '../wire/peer/message.js'
import type { Balancer } from './balancer.js'
import type { Cluster } from './cluster.js'
import type { Copies } from './copies.js'
import type { Membership } from './membership.js'
import type { Merges } from './merges.js'
import type { Moves } from './moves.js'
import type { Peer } from './peers.js'
import type { Registers } from './registers.js'
import type { Repair } from './repair.js'
import type { Requests } from './requests.js'
import type { Rows } from './rows.js'
import type { Upkeep } from './upkeep.js'
import type { Voting } from './voting.js'
import type { Watches } from './watches.js'

export interface Parts {
  readonly balancer: Balancer
  readonly copies: Copies
  readonly membership: Membership
  readonly merges: Merges
  readonly moves: Moves
  readonly registers: Registers
  readonly repair: Repair
  readonly requests: Requests
  readonly rows: Rows
  readonly upkeep: Upkeep
  readonly voting: Voting
  readonly watches: Watches
  /** Another node tells of rows. */
  readonly onRows: (peer: Peer, mask: number, rows: readonly BucketRow[]) => void
}

export class Dispatch {
  readonly #cluster: Cluster
  readonly #parts: Parts

  constructor(cluster: Cluster, parts: Parts) {
    this.#cluster = cluster
    this.#parts = parts
  }

  take(peer: Peer, message: Message): void {
    if (this.#takeData(peer, message) || this.#takeMove(peer, message)) return
    if (!this.#takeAgreement(peer, message)) this.#takeControl(peer, message)
  }

  #takeData(peer: Peer, message: Message): boolean {
    const { copies, repair, upkeep, watches, requests } = this.#parts
    switch (message.kind) {
      case 'batch':
        copies.applyBatch(peer, message)
        return true
      case 'sync':
        upkeep.synced(peer, message.buckets, this.#cluster.now)
        repair.served(peer, message.buckets)
        return true
      case 'watches':
        watches.learn(message)
        return true
      case 'event':
        watches.deliver(message)
        return true
      case 'gap':
        watches.onGap()
        return true
      case 'untold':
        watches.onUntold(peer, message)
        return true
      default:
        return requests.onMessage(peer, message)
    }
  }

  #takeMove(peer: Peer, message: Message): boolean {
    const { moves, merges } = this.#parts
    switch (message.kind) {
      case 'offer':
        moves.onOffer(peer, message)
        return true
      case 'accept':
        moves.onAccept(peer, message.move)
        return true
      case 'busy':
        moves.onBusy(peer, message.move, message.reason)
        return true
      case 'items':
        moves.onItems(peer, message.move, message.payload)
        return true
      case 'caughtUp':
        moves.onCaughtUp(peer, message)
        return true
      case 'cancel':
        moves.onCancel(peer, message.move, message.reason)
        return true
      case 'ship':
        moves.onShip(peer, message)
        return true
      case 'merge':
        merges.onMerge(peer, message)
        return true
      case 'merged':
        merges.onMerged(peer, message)
        return true
      case 'shipEnd':
        moves.onShipEnd(message.bucket, message.done)
        return true
      default:
        return false
    }
  }

  #takeAgreement(peer: Peer, message: Message): boolean {
    const { outbox, peers, table, now } = this.#cluster
    const { registers, voting, rows, membership } = this.#parts
    const { joined } = membership
    switch (message.kind) {
      case 'prepare':
      case 'promise':
      case 'propose':
      case 'accepted':
        if (joined) registers.onMessage(peer, message)
        return true
      case 'voters':
        if (joined) voting.learn(message.set, 'told')
        return true
      case 'votersSeen':
        if (joined) voting.onSeen(peer, message.version)
        return true
      case 'votersAsk':
        if (joined) peers.send(peer, { kind: 'voters', set: voting.set }, now)
        return true
      case 'resolve':
        if (joined && message.register <= table.mask) {
          rows.resolve(message.register, `${peer.name} found it unfinished`)
        }
        return true
      case 'taken':
        if (joined) rows.onTaken(peer, message.mask, message.rows)
        return true
      case 'refused':
        outbox.event({ kind: 'peerError', node: peer.name, reason: message.reason })
        return true
      default:
        return false
    }
  }

  #takeControl(peer: Peer, message: Message): void {
    const { peers, view, now } = this.#cluster
    const { membership, rows, balancer, onRows } = this.#parts
    switch (message.kind) {
      case 'beat':
        membership.onBeat(peer, message)
        return
      case 'members':
        membership.learn(message.members)
        return
      case 'join':
        membership.onJoin(peer, message)
        return
      case 'welcome':
        membership.onWelcome(message)
        return
      case 'rows':
        onRows(peer, message.mask, message.rows)
        return
      case 'tableAsk':
        if (!peers.isStalled(peer, now)) rows.send(peer, message)
        return
      case 'levelAsk': {
        const { primaries, backups, transferring } = view.own
        peers.send(peer, { kind: 'level', primaries, backups, transferring }, now)
        return
      }
      case 'level':
        balancer.onLevel(peer, message)
        return
      case 'promoted':
        rows.onPromoted(peer, message)
        return
      case 'behind':
        rows.onBehind(peer, message.bucket)
    }
  }
}
