/**
 * One client's conversation: bytes in, replies out in the same order. A reply that must wait for
 * acknowledgements is kept with its gates, one that is not known yet (the command was sent on to another node, or
 * waits for its bucket) is a slot, and everything behind either waits with it. Commands behind a slot are executed
 * all the same, as far as the order of what happens to a bucket allows it (requests.ts).
 */
import type { RequestParser } from '../wire/resp/request-parser.js'
import type { Protocol } from '../wire/resp/reply-writer.js'
import type { Table } from '../core/table.js'
import { ClientState } from './door/client-state.js'
import { InputBuffer } from './door/input-buffer.js'
import type { Peer } from './peers.js'

/** Whoever has to have processed something: another node, as a rule. */
export interface Processor {
  hasProcessed(frame: number): boolean
}

export interface Gate {
  readonly peer: Processor
  readonly frame: number
}

/** Some replies in a row, and the acknowledgements they wait for. */
export class Segment {
  /** Undefined while the reply is not known. */
  bytes: Uint8Array | undefined
  gates: readonly Gate[]
  /** How many replies the bytes hold. */
  readonly replies: number

  constructor(bytes: Uint8Array | undefined, gates: readonly Gate[], replies = 1) {
    this.bytes = bytes
    this.gates = gates
    this.replies = replies
  }

  get isOpen(): boolean {
    for (const { peer, frame } of this.gates) if (!peer.hasProcessed(frame)) return false
    return true
  }
}

/** Segments that were given out are cut off when there are so many. */
const GONE_MAX = 1024

/** Whoever made a slot that is no reply of its own but a part of one. */
export interface Collector {
  collect(slot: Slot, reply: Uint8Array, gates: readonly Gate[]): void
}

/** Why a command is not executed yet. */
export type Wait = 'bucket' | 'window' | 'limbo' | 'order'

/** The place of a reply that is not there yet, with the command it answers. */
export class Slot extends Segment {
  readonly session: Session
  /** The whole command as RESP, for this try and the next. */
  readonly request: Uint8Array
  /** Commands of a session are tried again in this order. */
  readonly order: number
  readonly collector: Collector | undefined
  /** Set when it is sent on: whether it may change something. */
  write = false
  /** Of its key, once it is known. */
  hash = -1
  done = false
  /** Its parts are under way instead of it. */
  apart = false
  wait: Wait | undefined
  /** When it was first sent on or made to wait; 0 before. */
  sinceMs = 0
  /** The client does not want to hear it. */
  silent = false
  /** Called when everything before it has been given out. */
  whenFirst: (() => void) | undefined

  constructor(session: Session, request: Uint8Array, collector?: Collector) {
    super(undefined, [])
    this.session = session
    this.request = request
    this.order = session.nextOrder++
    this.collector = collector
  }
}

/** A conversation that another node leads for its client: whom to answer, and under which numbers. */
export interface Remote {
  readonly peer: Peer
  readonly lane: number
  hops: number
  /** Numbers of the next command to come and of the next reply to go. */
  nextIn: number
  nextOut: number
}

export class Session {
  readonly id: number
  protocol: Protocol = 2
  acksAll: boolean
  readonly remote: Remote | undefined
  readonly openedMs: number
  /** Bytes not yet executed. */
  readonly input = new InputBuffer()
  /** Of its own while a long command is not complete, so that it is not looked at from its start each time. */
  parser: RequestParser | undefined
  /** Slots that are neither filled nor given up, parts of replies included. */
  open = 0
  nextOrder = 1
  /** Slots that wait to be tried again, in order. While there are any, nothing new is begun. */
  parked: Slot[] = []
  /** By which table the open slots were sent on. */
  routeTable: Table | undefined
  routeVersion = 0
  /** The next command needs what the ones before it did. */
  waitsAlone = false
  /** It is in a state in which no command is executed just like that. */
  aside = false
  /** Ends once everything has been given out; nothing more is executed. */
  ending = false
  closed = false
  /** The driver was told not to read from it. */
  paused = false
  /** When something was last heard of it. */
  heardMs = 0
  #client: ClientState | undefined
  #segments: Segment[] = []
  #first = 0

  constructor(
    id: number,
    acksAll: boolean,
    { remote, openedMs = 0 }: { remote?: Remote; openedMs?: number } = {}
  ) {
    this.id = id
    this.acksAll = acksAll
    this.remote = remote
    this.openedMs = openedMs
  }

  get client(): ClientState {
    return (this.#client ??= new ClientState())
  }

  get isClusterAware(): boolean {
    return this.#client?.clusterAware === true
  }

  get waits(): boolean {
    return this.#first < this.#segments.length
  }

  /** Nothing is under way: forgetting it would change nothing. */
  get isIdle(): boolean {
    return !this.waits && this.open === 0 && this.input.length === 0
  }

  get queuedBytes(): number {
    return this.input.length + this.queuedReplyBytes
  }

  get queuedReplyBytes(): number {
    let bytes = 0
    for (let i = this.#first; i < this.#segments.length; i++) {
      bytes += this.#segments[i].bytes?.length ?? 0
    }
    return bytes
  }

  /** Puts a reply, or the place of one, behind those that wait; the bytes are kept. */
  enqueue(segment: Segment): void {
    this.#segments.push(segment)
  }

  /** The next segment in order if it is there and has all its acknowledgements. */
  takeReady(): Segment | undefined {
    if (this.#first === this.#segments.length) return undefined
    const segment = this.#segments[this.#first]
    if (segment.bytes === undefined && segment instanceof Slot) {
      const act = segment.whenFirst
      segment.whenFirst = undefined
      act?.()
    }
    if (segment.bytes === undefined || !segment.isOpen) return undefined
    this.#first++
    if (this.#first === this.#segments.length || this.#first > GONE_MAX) {
      this.#segments = this.#segments.slice(this.#first)
      this.#first = 0
    }
    return segment
  }

  /** Segments that wait for an acknowledgement of this kind. */
  waitingFor(kind: (peer: Processor, frame: number) => boolean): Segment[] {
    return this.#segments
      .slice(this.#first)
      .filter(({ gates }) => gates.some(({ peer, frame }) => kind(peer, frame)))
  }

  /** To be called when something changed by which commands are executed. */
  updateAside(): void {
    const client = this.#client
    this.aside =
      client !== undefined && (client.replies !== 'on' || client.transaction !== undefined)
  }

  /** Whether all open slots were sent on by the table as it is: then a bucket's way is the same for all. */
  isRoutedBy(table: Table): boolean {
    return this.routeTable === table && this.routeVersion === table.version
  }
}
