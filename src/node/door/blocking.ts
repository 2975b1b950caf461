/**
 * Commands that wait until there is something to take. One whose keys share a hash goes, like any write, to where their
 * bucket is, and waits there in line; what it takes is taken in the very moment it is put there, before anybody
 * else can, and is a replicated write that is answered once (0009). When the bucket goes elsewhere, the node
 * that passed the command on passes it on again, to the new primary. Only the client's own node knows how long it
 * waits: when its time is over, the node that keeps it waiting is asked to stop, and answers either what it
 * has taken meanwhile or nothing. So nothing is ever taken for a client that was told that there was nothing.
 *
 * Keys of several hashes live at several primaries: these only tell the client's node when a key has something, which
 * then tries to take it there. Somebody else may be faster; then it waits again.
 */
import { latin1Bytes, latin1String } from '../../core/bytes.js'
import type { PlacementHash } from '../../core/hash/placement-hash.js'
import type { Arguments } from '../../commands/arguments.js'
import type { Blocking } from '../../commands/blocking.js'
import type { Call } from '../../commands/call.js'
import type { Unblocking } from '../../wire/peer/door.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Cluster } from '../cluster.js'
import type { Peer } from '../peers.js'
import type { Session, Slot } from '../session.js'
import { type Alert, type Entry, type Waiter, WaitingList } from './waiting-list.js'

export const UNBLOCKED = 'UNBLOCKED client unblocked via CLIENT UNBLOCK'
/** Should a word get lost, whoever waits at several nodes looks for himself this often. */
const LOOK_MS = 1000
const TRY = latin1Bytes('OC.TRY')
const ERROR = 0x2d

/** A command of a client here whose keys live apart. */
interface Vigil {
  readonly id: number
  readonly slot: Slot
  readonly blocking: Blocking
  readonly args: Arguments
  readonly sources: readonly number[]
  readonly keys: readonly string[]
  /** It looks for something to take just now. */
  looking: boolean
  /** Something came while it looked. */
  again: boolean
  nextLookMs: number
  /** Who was asked to tell. */
  asked: Peer[]
  alert: Alert | undefined
}

/** What it needs of the door. */
export interface BlockingDoor {
  readonly cluster: Cluster
  readonly execution: { readonly hash: PlacementHash }
  reply(slot: Slot, write: (reply: ReplyWriter) => void): void
  refuse(slot: Slot, text: string): void
  ask(
    slot: Slot,
    requests: readonly Uint8Array[],
    next: (parts: readonly Uint8Array[]) => void
  ): void
  answerNothing(slot: Slot): void
  unblockElsewhere(session: Session, how: Unblocking): void
  wake(session: Session): void
}

export class BlockedCommands {
  readonly list = new WaitingList()
  readonly #door: BlockingDoor
  readonly #cluster: Cluster
  /** Commands of clients of this node, wherever they wait. */
  readonly #own = new Set<Slot>()
  readonly #waiters = new Map<Slot, Waiter>()
  readonly #vigils = new Map<number, Vigil>()
  readonly #bySlot = new Map<Slot, Vigil>()
  #nextId = 1
  /** Not later than the first deadline. */
  #nextMs = Infinity

  constructor(door: BlockingDoor) {
    this.#door = door
    this.#cluster = door.cluster
  }

  get deadline(): number {
    return this.#nextMs
  }

  get clients(): number {
    return this.#own.size
  }

  isBlocked(session: Session): boolean {
    for (const slot of this.#own) if (slot.session === session) return true
    return false
  }

  /** A command that may have to wait; from here on it is answered by whoever can. */
  begin(slot: Slot, blocking: Blocking, args: Arguments): void {
    if (slot.blocking !== undefined) return
    const { session } = slot
    const ms = session.remote === undefined ? blocking.timeoutMs(args) : 0
    const deadlineMs = ms === 0 ? Infinity : this.#cluster.now + ms
    slot.blocking = { deadlineMs, unblocked: undefined }
    session.waitsAlone = true
    if (session.remote !== undefined) return
    this.#own.add(slot)
    this.#nextMs = Math.min(this.#nextMs, deadlineMs)
  }

  /** There is nothing to take: it waits here, in line. */
  wait(slot: Slot, keys: readonly string[], serve: () => boolean): void {
    const waiter: Waiter = { kind: 'command', slot, keys, serve }
    slot.sinceMs = 0
    this.#waiters.set(slot, waiter)
    this.list.add(waiter)
  }

  /** A key was written to; called for every write while anybody waits. */
  touched({ key }: Call): void {
    this.list.touch(latin1String(key.bytes, key.offset, key.length))
  }

  /** Gives what was put somewhere to those who wait for it, in their order, until nothing is left. */
  serve(): void {
    for (let next = this.list.takeTouched(); next; next = this.list.takeTouched()) {
      for (const entry of next.entries) {
        if (entry.kind === 'alert') this.#alarm(entry, next.key)
        else if (entry.serve()) this.#drop(entry.slot)
      }
    }
  }

  /** It has been answered, or never will be. */
  answered(slot: Slot): void {
    this.#drop(slot)
    this.#own.delete(slot)
    const vigil = this.#bySlot.get(slot)
    if (vigil !== undefined) this.#endVigil(vigil)
  }

  /** Buckets went elsewhere: those who wait here for what is not here any more go after it. */
  rowsChanged(): Slot[] {
    const moved: Slot[] = []
    if (this.list.size === 0 && this.#vigils.size === 0) return moved
    for (const entry of this.list.all()) {
      if (entry.kind !== 'command' || this.#isHere(entry.slot.hash)) continue
      this.#drop(entry.slot)
      moved.push(entry.slot)
    }
    for (const vigil of this.#vigils.values()) this.#look(vigil)
    return moved
  }

  /** A client of this node must not wait any longer; false if it does not wait. */
  unblockSession(session: Session, how: Unblocking): boolean {
    for (const slot of [...this.#own]) {
      if (slot.session !== session) continue
      this.unblock(slot, how)
      return true
    }
    return false
  }

  /** Another node says so, of the command that it passed on. */
  unblockRemote(session: Session, how: Unblocking): void {
    for (const slot of [...this.#waiters.keys()]) {
      if (slot.session === session) this.unblock(slot, how)
    }
    this.#door.unblockElsewhere(session, how)
  }

  unblock(slot: Slot, how: Unblocking): void {
    const { blocking } = slot
    if (blocking === undefined || slot.done) return
    blocking.unblocked = how
    const vigil = this.#bySlot.get(slot)
    if (this.#waiters.has(slot) || (vigil !== undefined && !vigil.looking)) this.giveUp(slot)
    else if (vigil === undefined) this.#door.unblockElsewhere(slot.session, how)
  }

  /** Answers that there was nothing. */
  giveUp(slot: Slot): void {
    const how = slot.blocking?.unblocked
    if (how === 'error') this.#door.refuse(slot, UNBLOCKED)
    else this.#door.answerNothing(slot)
    this.#door.wake(slot.session)
  }

  tick(): void {
    const { now } = this.#cluster
    for (const vigil of this.#vigils.values()) if (vigil.nextLookMs <= now) this.#look(vigil)
    if (now < this.#nextMs) return
    for (const slot of [...this.#own]) {
      const { blocking } = slot
      if (blocking === undefined || blocking.deadlineMs > now) continue
      if (blocking.unblocked === undefined) this.unblock(slot, 'timeout')
    }
    this.#nextMs = this.#firstDeadline()
  }

  forget(session: Session): void {
    for (const slot of [...this.#own, ...this.#waiters.keys()]) {
      if (slot.session === session) this.answered(slot)
    }
  }

  peerGone(peer: Peer): void {
    for (const entry of this.list.all()) {
      if (entry.kind === 'alert' && entry.peer === peer) this.list.remove(entry)
    }
  }

  /** Another node wants to know when one of these keys has something. */
  onAwait(peer: Peer, id: number, keys: readonly string[]): void {
    for (const entry of this.list.all()) {
      if (entry.kind === 'alert' && entry.peer === peer && entry.id === id) this.list.remove(entry)
    }
    if (keys.length === 0) return
    const { peers } = this.#cluster
    const tell = (key: string): void =>
      void peers.send(peer, { kind: 'ready', id, key }, this.#cluster.now)
    this.list.add({ kind: 'alert', peer, id, keys, tell })
  }

  onReady(id: number): void {
    const vigil = this.#vigils.get(id)
    if (vigil !== undefined) this.#look(vigil)
  }

  /** A command whose keys live apart. */
  keepVigil(slot: Slot, blocking: Blocking, args: Arguments): void {
    this.begin(slot, blocking, args)
    const sources = blocking.sources(args)
    const keys = sources.map((place) => args.text(place))
    const id = this.#nextId++
    const rest = { looking: false, again: false, nextLookMs: 0, asked: [], alert: undefined }
    const vigil: Vigil = { id, slot, blocking, args, sources, keys, ...rest }
    this.#vigils.set(id, vigil)
    this.#bySlot.set(slot, vigil)
    slot.session.vigil = true
    this.#look(vigil)
  }

  /** Asks to be told first, so that nothing is missed, and then looks at one key after the other. */
  #look(vigil: Vigil): void {
    if (vigil.looking) {
      vigil.again = true
      return
    }
    vigil.looking = true
    vigil.again = false
    vigil.nextLookMs = this.#cluster.now + LOOK_MS
    this.#nextMs = Math.min(this.#nextMs, vigil.nextLookMs)
    this.#watch(vigil)
    this.#tryKey(vigil, 0)
  }

  #tryKey(vigil: Vigil, index: number): void {
    const { slot, blocking, args, sources } = vigil
    if (slot.done) return
    if (index === sources.length) {
      vigil.looking = false
      if (slot.blocking?.unblocked !== undefined) this.giveUp(slot)
      else if (vigil.again) this.#look(vigil)
      return
    }
    const about = blocking.about(args, sources[index])
    this.#door.ask(slot, [encodeArguments([TRY, about])], ([reply]) => {
      const isNothing = reply[0] !== ERROR && isNil(reply)
      if (isNothing) this.#tryKey(vigil, index + 1)
      else {
        this.#door.reply(slot, (writer) => writer.raw(reply, 0, reply.length))
        this.#door.wake(slot.session)
      }
    })
  }

  /** Each primary is asked to tell when one of its keys has something. */
  #watch(vigil: Vigil): void {
    const { peers, table, self, now } = this.#cluster
    this.#unwatch(vigil)
    const byPeer = new Map<Peer, string[]>()
    const here: string[] = []
    for (const key of vigil.keys) {
      const bytes = latin1Bytes(key)
      const hash = this.#door.execution.hash.hash(bytes, 0, bytes.length)
      const primary = table.primaryOf(hash & table.mask)
      const peer = primary === self ? undefined : this.#cluster.peerOf(primary)
      if (primary === self) here.push(key)
      else if (peer?.isOpen === true) byPeer.set(peer, [...(byPeer.get(peer) ?? []), key])
    }
    const { id } = vigil
    if (here.length > 0) {
      const tell = (): void => this.#look(vigil)
      vigil.alert = { kind: 'alert', peer: undefined, id, keys: here, tell }
      this.list.add(vigil.alert)
    }
    for (const [peer, keys] of byPeer) {
      peers.send(peer, { kind: 'await', id, keys }, now)
      vigil.asked.push(peer)
    }
  }

  #unwatch(vigil: Vigil): void {
    const { peers, now } = this.#cluster
    if (vigil.alert !== undefined) this.list.remove(vigil.alert)
    vigil.alert = undefined
    for (const peer of vigil.asked) peers.send(peer, { kind: 'await', id: vigil.id, keys: [] }, now)
    vigil.asked = []
  }

  #endVigil(vigil: Vigil): void {
    this.#unwatch(vigil)
    this.#vigils.delete(vigil.id)
    this.#bySlot.delete(vigil.slot)
    vigil.slot.session.vigil = false
  }

  #alarm(alert: Alert, key: string): void {
    // Told once; whoever is told asks again if that was not enough.
    this.list.remove(alert)
    alert.tell(key)
  }

  #drop(slot: Slot): void {
    const waiter: Entry | undefined = this.#waiters.get(slot)
    if (waiter === undefined) return
    this.#waiters.delete(slot)
    this.list.remove(waiter)
  }

  #isHere(hash: number): boolean {
    const { buckets, table } = this.#cluster
    return buckets[hash & table.mask]?.role === 'primary'
  }

  #firstDeadline(): number {
    let first = Infinity
    for (const { blocking } of this.#own) {
      if (blocking?.unblocked === undefined) first = Math.min(first, blocking?.deadlineMs ?? first)
    }
    for (const { nextLookMs } of this.#vigils.values()) first = Math.min(first, nextLookMs)
    return first
  }
}

/** `_`, `$-1`, `*-1`. */
function isNil(reply: Uint8Array): boolean {
  return reply[0] === 0x5f || (reply[1] === 0x2d && reply[0] !== 0x3a)
}
