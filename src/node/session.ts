/**
 * One client's conversation: bytes in, replies out in the same order. A reply that must wait for
 * acknowledgements is kept with its gates, one that is not known yet (the command was sent on to another node, or
 * waits for its bucket) is a slot, and everything behind either waits with it. Commands behind a slot are executed
 * all the same, as far as the order of what happens to a bucket allows it (requests.ts).
 */
import type { RequestParser } from '../wire/resp/request-parser.js'
import type { Protocol } from '../wire/resp/reply-writer.js'
import type { Table } from '../core/table.js'
import {
  ClientState,
  type ClientTracking,
  NO_ORIGIN,
  type Origin,
  type Subscriptions
} from './door/client-state.js'
import { InputBuffer } from './door/input-buffer.js'
import type { InputMemory } from './door/input-memory.js'
import type { Unblocking } from '../wire/peer/door.js'
import type { Peer } from './peers.js'
import { NO_GATES, Segment, type Gate, type Processor } from './segment.js'

/** Segments that were given out are cut off when there are so many. */
const GONE_MAX = 1024
/** In the places of those. */
const GONE = new Segment(undefined, NO_GATES)

/** Whoever made a slot that is no reply of its own but a part of one. */
export interface Collector {
  collect(slot: Slot, reply: Uint8Array, gates: readonly Gate[]): void
}

/** Why a command is not executed yet. */
export type Wait = 'bucket' | 'window' | 'limbo' | 'order'

/** A command that waits for something to take. */
export interface Blocked {
  /** When it must be answered, at the node of its client; Infinity: never, or it is for another node to say. */
  readonly deadlineMs: number
  /** It must be answered as soon as it is known that it has taken nothing. */
  unblocked: Unblocking | undefined
}

/** The place of a reply that is not there yet, with the command it answers. */
export class Slot extends Segment {
  readonly session: Session
  /** The whole command as RESP, for this try and the next. */
  readonly request: Uint8Array
  /** Commands of a session are tried again in this order. */
  readonly order: number
  readonly collector: Collector | undefined
  /** Its place in the conversation of the client it came from, if it may be sent again under that; 0 if not. */
  turn: number
  /** It waits, or may have to, until there is something to take. */
  blocking: Blocked | undefined
  /** After this it is not executed here any more, since it may be elsewhere; 0: there is no such time. */
  untilMs = 0
  /** Its client caches what it reads. */
  tracks = false
  /** It has been on its way to another node, which may have executed it. */
  sentOn = false
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
  /** When it came; 0 for parts of others. */
  beganMs = 0
  /** By which it is counted, if it is a client's own. */
  name: string | undefined
  /** The client does not want to hear it. */
  silent = false
  /** Counted in its session's `loose`. */
  loose = false
  /** Called when everything before it has been given out. */
  whenFirst: (() => void) | undefined

  constructor(session: Session, request: Uint8Array, collector?: Collector) {
    super(undefined, NO_GATES)
    this.session = session
    this.request = request
    this.order = session.nextOrder++
    this.collector = collector
    this.turn = session.remote === undefined ? this.order : 0
  }
}

/** A conversation that another node leads for its client: whom to answer, and under which numbers. */
export interface Remote {
  readonly peer: Peer
  readonly lane: number
  /** Whose commands these are, whichever way they came. */
  readonly client: string
  hops: number
  /** The client has its answers to all turns before this one. */
  floor: number
  /** For each command in the input its turn; twice, and one more if it was sent before. */
  turns: number[]
  /** For each of them when it is too late to execute it; 0: never. */
  untils: number[]
  /** Numbers of the next command to come and of the next reply to go. */
  nextIn: number
  nextOut: number
  /** When it last had nothing under way any more. */
  idleMs: number
}

interface SessionOptions {
  readonly remote?: Remote
  readonly openedMs?: number
  readonly origin?: Origin | undefined
  /** Shared by the sessions of a node. */
  readonly memory?: InputMemory
}

export class Session {
  readonly id: number
  protocol: Protocol = 2
  acksAll: boolean
  readonly remote: Remote | undefined
  readonly openedMs: number
  readonly origin: Origin
  /** Bytes not yet executed. */
  readonly input: InputBuffer
  /** How many bytes its first command lacks, if that is known to be incomplete. */
  needed = 0
  /** Of its own while a long command is not complete, so that it is not looked at from its start each time. */
  parser: RequestParser | undefined
  /** Slots that are neither filled nor given up, parts of replies included. */
  open = 0
  /** Of these, slots whose place among the others does not matter to any but their own kind. */
  loose = 0
  nextOrder = 1
  /** Slots that wait to be tried again, in order. While there are any, nothing new is begun. */
  parked: Slot[] = []
  /** By which table the open slots were sent on. */
  routeTable: Table | undefined
  routeVersion = 0
  /** The next command needs what the ones before it did. */
  waitsAlone = false
  /** One of its commands waits at several nodes, and looks now and then: nothing else is begun. */
  vigil = false
  /** It is in a state in which no command is executed just like that. */
  aside = false
  /** Ends once everything has been given out; nothing more is executed. */
  ending = false
  closed = false
  /** The driver was told not to read from it. */
  paused = false
  /** When something was last heard of it. */
  heardMs = 0
  /** Its place among the sessions whose replies wait (replies.ts); below 0: none of its replies does. */
  gatedAt = -1
  #client: ClientState | undefined
  /** The list serves again when all have gone: from one place to before another. */
  #segments: Segment[] = []
  #first = 0
  #end = 0

  constructor(
    id: number,
    acksAll: boolean,
    { remote, openedMs = 0, origin = NO_ORIGIN, memory }: SessionOptions = {}
  ) {
    this.id = id
    this.acksAll = acksAll
    this.remote = remote
    this.openedMs = openedMs
    this.origin = origin
    this.input = new InputBuffer(memory)
  }

  get client(): ClientState {
    return (this.#client ??= new ClientState())
  }

  get subscriptions(): Subscriptions | undefined {
    return this.#client?.subscriptions
  }

  get tracking(): ClientTracking | undefined {
    return this.#client?.tracking
  }

  get isClusterAware(): boolean {
    return this.#client?.clusterAware === true || this.origin.asReplica
  }

  /** A backup may answer it. */
  get readsCopies(): boolean {
    return this.#client?.readsCopies === true && this.origin.asReplica
  }

  get waits(): boolean {
    return this.#first < this.#end
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
    for (let i = this.#first; i < this.#end; i++) {
      bytes += this.#segments[i].bytes?.length ?? 0
    }
    return bytes
  }

  /** Puts a reply, or the place of one, behind those that wait; the bytes are kept. */
  enqueue(segment: Segment): void {
    this.#segments[this.#end++] = segment
  }

  /** The next segment in order if it is there and has all its acknowledgements. */
  takeReady(): Segment | undefined {
    if (this.#first === this.#end) return undefined
    const segment = this.#segments[this.#first]
    if (segment.bytes === undefined && segment instanceof Slot) {
      const act = segment.whenFirst
      segment.whenFirst = undefined
      act?.()
    }
    if (segment.bytes === undefined || !segment.isOpen) return undefined
    this.#segments[this.#first++] = GONE
    if (this.#first > GONE_MAX) {
      this.#segments = this.#segments.slice(this.#first, this.#end)
      this.#end -= this.#first
      this.#first = 0
    } else if (this.#first === this.#end) {
      this.#first = 0
      this.#end = 0
    }
    return segment
  }

  /** Segments that wait for an acknowledgement of this kind. */
  waitingFor(kind: (peer: Processor, frame: number) => boolean): Segment[] {
    return this.#segments
      .slice(this.#first, this.#end)
      .filter(({ gates }) => gates.some(({ peer, frame }) => kind(peer, frame)))
  }

  /** To be called when something changed by which commands are executed. */
  updateAside(): void {
    const client = this.#client
    this.aside =
      client !== undefined &&
      (client.replies !== 'on' ||
        client.transaction !== undefined ||
        this.isListening ||
        client.tracking !== undefined)
  }

  /** It hears what others publish, and in RESP2 can hardly say anything else meanwhile. */
  get isListening(): boolean {
    return this.protocol === 2 && this.subscriptions !== undefined
  }

  /** Whether all open slots were sent on by the table as it is: then a bucket's way is the same for all. */
  isRoutedBy(table: Table): boolean {
    return this.routeTable === table && this.routeVersion === table.version
  }
}
