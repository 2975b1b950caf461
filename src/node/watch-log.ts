/**
 * The events of one bucket that may not have reached every watcher yet, in the order of its write numbers. On the
 * primary an event waits until its write is on every in-sync copy, is then sent to the nodes whose clients watch
 * the key, and is forgotten when these have it. On a backup it is kept until the primary says that it was told;
 * a backup that is promoted tells what is left again, before anything new.
 *
 * It exists only where somebody watches. It is bounded: what must be dropped is remembered as a gap, so that
 * watchers can be told that they missed something instead of believing that they did not.
 */
import type { WatchEvent } from '../wire/peer/watch.js'
import type { Peer } from './peers.js'
import type { Gate } from './segment.js'

/** Events a bucket keeps. More than this between two marks of a second can only be told again as a gap. */
export const LOG_EVENTS_MAX = 8192

/** A frame that has to be processed by another node. */
export interface PeerGate extends Gate {
  readonly peer: Peer
}

interface Entry {
  readonly event: WatchEvent
  /** Before it is sent: what it waits for. Afterwards: the frames that carry it. */
  gates: readonly PeerGate[]
}

/** What tells the watchers; both answer with the frames that carry it. */
export interface Teller {
  tell(event: WatchEvent): readonly PeerGate[]
  tellGap(): readonly PeerGate[]
  /** Whether whoever this was sent to has it, or is taken care of in another way. */
  isTold(gate: PeerGate): boolean
}

export class EventLog {
  #entries: Entry[] = []
  /** How many of them are sent. */
  #sent = 0
  /** Every event up to this number is with its watchers. */
  #told = 0
  /** Up to this number events were dropped that may not have been told; 0 if none. */
  #lostUpTo = 0
  /** The watchers must hear of what was dropped before anything else; or the frames that told them. */
  #gap: 'none' | 'due' | readonly PeerGate[] = 'none'

  get isEmpty(): boolean {
    return this.#entries.length === 0 && this.#lostUpTo === 0
  }

  /** Up to which number something is missing here that may not have been told. */
  get lostUpTo(): number {
    return this.#lostUpTo
  }

  get events(): WatchEvent[] {
    return this.#entries.map(({ event }) => event)
  }

  /** How many of the last writes, up to this number, may still have to be told. */
  untold(seq: number): number {
    return this.isEmpty ? 0 : seq - this.#told
  }

  add(event: WatchEvent, gates: readonly PeerGate[]): void {
    if (this.isEmpty) this.#told = event.seq - 1
    if (this.#entries.length >= LOG_EVENTS_MAX) this.#dropFirst()
    this.#entries.push({ event, gates })
  }

  /** On a primary: tells what is on every copy by now, and forgets what has been told. */
  advance(teller: Teller): void {
    this.#forgetTold(teller)
    const entries = this.#entries
    if (this.#gap === 'due' && entries.length === 0) this.#gap = teller.tellGap()
    while (this.#sent < entries.length && entries[this.#sent].gates.every(isOpen)) {
      if (this.#gap === 'due') this.#gap = teller.tellGap()
      const entry = entries[this.#sent++]
      entry.gates = teller.tell(entry.event)
    }
    this.#forgetTold(teller)
  }

  /** On a backup: the primary says that everything up to this number has been told. */
  trim(seq: number): void {
    let count = 0
    while (count < this.#entries.length && this.#entries[count].event.seq <= seq) count++
    if (count > 0) this.#entries.splice(0, count)
    this.#sent = Math.max(0, this.#sent - count)
    this.#told = Math.max(this.#told, seq)
    if (this.#lostUpTo <= seq) this.#clearGap()
  }

  /** On a backup that has become primary: all of it is told again, as soon as these gates open. */
  reopen(gates: readonly PeerGate[]): void {
    this.#sent = 0
    for (const entry of this.#entries) entry.gates = gates
    if (this.#lostUpTo > 0) this.#gap = 'due'
  }

  /** Something before this log is missing. */
  noteLost(upTo: number): void {
    this.#lostUpTo = Math.max(this.#lostUpTo, upTo)
    this.#gap = 'due'
  }

  /** Those of one bucket that this one was cut into. */
  part(isInPart: (key: string) => boolean): EventLog {
    const log = new EventLog()
    log.#told = this.#told
    log.#lostUpTo = this.#lostUpTo
    log.#gap = this.#gap
    this.#entries.forEach((entry, i) => {
      if (!isInPart(entry.event.key)) return
      log.#entries.push({ ...entry })
      if (i < this.#sent) log.#sent++
    })
    return log
  }

  #forgetTold(teller: Teller): void {
    const isTold = (gate: PeerGate): boolean => teller.isTold(gate)
    let count = 0
    while (count < this.#sent && this.#entries[count].gates.every(isTold)) count++
    if (count > 0) {
      this.#told = this.#entries[count - 1].event.seq
      this.#entries.splice(0, count)
      this.#sent -= count
    }
    if (typeof this.#gap !== 'string' && this.#gap.every(isTold)) this.#clearGap()
  }

  #dropFirst(): void {
    const entry = this.#entries.shift()
    if (entry === undefined) return
    this.#lostUpTo = entry.event.seq
    if (this.#sent === 0) {
      this.#gap = 'due'
      return
    }
    // It is on its way; only a promoted backup could not tell it again.
    this.#sent--
    if (this.#gap !== 'due') this.#gap = entry.gates
  }

  #clearGap(): void {
    this.#lostUpTo = 0
    this.#gap = 'none'
  }
}

function isOpen({ peer, frame }: PeerGate): boolean {
  return peer.hasProcessed(frame)
}
