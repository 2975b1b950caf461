/**
 * One bucket that this node holds a copy of: its items, its role by the row, and where it stands in the order
 * of writes. Every write of a bucket has a number; a copy is in sync exactly when it has the primary's.
 */
import type { NodeName } from '../core/ids.js'
import type { Bucket } from '../store/bucket.js'
import type { OnceNotes } from './once-notes.js'
import type { Peer } from './peers.js'
import type { Session } from './session.js'
import type { Processor } from './segment.js'
import type { EventLog } from './watch-log.js'

/** `merging`: the primary role was lost, and what is here may be newer in parts than what the new primary has. */
export type Role = 'primary' | 'backup' | 'incoming' | 'merging'

/** The write number that the children of a split share while their primary has not split yet. */
export interface SharedSeq {
  seq: number
}

/** The move of a bucket away from here, as far as the data path has to know. */
export interface Forwarding {
  readonly peer: Peer
  /** All items are sent: every write follows. */
  complete: boolean
  /** Writes wait for the target's acknowledgement as for a backup's. */
  gating: boolean
  lastFrame: number
}

export class BucketState {
  readonly id: number
  readonly items: Bucket
  /** Of the table when this state was made; a split makes new ones. */
  readonly mask: number
  role: Role
  /** Of the row this state follows. */
  epoch: number
  /** Number of the last write. */
  seq = 0
  /** Set after a split for as long as the primary still counts for all children together. */
  shared: SharedSeq | undefined
  /** The node whose writes are taken: the primary of a backup, the source of an incoming copy. */
  source: NodeName | undefined
  /** An incoming copy has everything. */
  caughtUp = false
  /** What watchers may not have been told yet; nothing where nobody watches. */
  events: EventLog | undefined
  /** Writes that other nodes passed on, while they may be sent again; nothing where there are none. */
  notes: OnceNotes | undefined

  /** Every copy has seen the deletions up to this version, and no other is elsewhere: they may be forgotten. 0: none may. */
  seenVersion = 0

  // On the primary:
  /** The in-sync backups, as in the row. */
  backups: Peer[] = []
  /** For each of them the frame with the last write of this bucket. */
  lastFrames: number[] = []
  lastVersion = 0
  /** Every write up to this version is on every in-sync copy. */
  settledVersion = 0
  /** Copies went apart after this version, where those who can be heard decide; 0: they did not. */
  partedVersion = 0
  /** How often marks of where the copies are were told since this node learned that. */
  partedSyncs = 0
  forwarding: Forwarding | undefined
  /** Frames that replies may still wait for although their target is in no row: its move has ended. */
  abandoned: { readonly peer: Peer; readonly frame: number }[] = []
  /** Its primary role is being handed over. */
  handing = false
  /** It is not served while somebody's attempt to take it over is brought to its end. */
  conceded = false
  /** It had nothing of what it should have, and takes in what this node has before it serves (merges.ts). */
  filling: Peer | undefined
  waiting: Session[] = []

  constructor(items: Bucket, options: { mask: number; role: Role; epoch: number }) {
    this.id = items.id
    this.items = items
    this.mask = options.mask
    this.role = options.role
    this.epoch = options.epoch
  }

  /** Requests wait for the row to change. */
  get holding(): boolean {
    return this.handing || this.conceded || this.filling !== undefined
  }

  /** Whether every in-sync backup has every write; remembers it. */
  isSettled(): boolean {
    for (let i = 0; i < this.backups.length; i++) {
      if (!this.backups[i].hasProcessed(this.lastFrames[i])) return false
    }
    const forwarding = this.forwarding
    if (forwarding?.gating === true && !forwarding.peer.hasProcessed(forwarding.lastFrame))
      return false
    this.settledVersion = this.lastVersion
    return true
  }

  /** Copies went apart after that version; 0: not, or they are one again. */
  part(version: number): void {
    if (version > 0 && this.partedVersion === 0) this.partedSyncs = 0
    this.partedVersion = version
  }

  /** The move has ended, one way or the other. */
  endForwarding(): void {
    const { forwarding } = this
    this.forwarding = undefined
    if (forwarding?.gating !== true) return
    const { peer } = forwarding
    const others = this.abandoned.filter((left) => left.peer !== peer)
    // One for each node: the later frame is behind the earlier one.
    const before = this.abandoned.find((left) => left.peer === peer)?.frame ?? 0
    const frame = Math.max(before, forwarding.lastFrame)
    this.abandoned = [...others, { peer, frame }].filter(isAwaited)
  }

  /** Whether replies may wait for writes of this bucket. */
  get isAwaited(): boolean {
    return !this.isSettled() || this.abandoned.some(isAwaited)
  }

  /** Whether a reply that waits for this frame of that node may wait for a write of this bucket. */
  isBehind(peer: Processor, frame: number): boolean {
    const place = this.backups.findIndex((backup) => backup === peer)
    if (place >= 0 && frame <= this.lastFrames[place]) return true
    const { forwarding } = this
    if (forwarding?.gating === true && forwarding.peer === peer) {
      if (frame <= forwarding.lastFrame) return true
    }
    return this.abandoned.some((left) => left.peer === peer && frame <= left.frame)
  }

  /** Follows the row: these are the backups now. A new one has everything up to this moment. */
  setBackups(backups: readonly Peer[]): void {
    const frames = backups.map((peer) => {
      const place = this.backups.indexOf(peer)
      if (place >= 0) return this.lastFrames[place]
      return this.forwarding?.peer === peer ? this.forwarding.lastFrame : 0
    })
    this.backups = [...backups]
    this.lastFrames = frames
  }
}

function isAwaited({ peer, frame }: { peer: Peer; frame: number }): boolean {
  return !peer.hasProcessed(frame)
}
