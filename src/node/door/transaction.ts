/**
 * MULTI, EXEC, DISCARD, WATCH. Commands are kept until EXEC; those about keys must all be about one slot, so that they
 * travel as one command (OC.EXEC) to where its bucket is and are executed there in one go. Commands without a
 * key are executed at the door, in their turn. A watched key is remembered by its version, which is compared
 * where it is when the transaction is executed.
 *
 * A client that does not care where keys are may queue commands about several slots, as libraries do that mean a pipeline.
 * What it queued for one slot is executed in one go, slot by slot, so others may see the time between; with
 * watched keys, where it would matter, that is refused.
 *
 *   OC.EXEC hash watches (key version)… command…      commands as RESP, each in one argument
 */
import type { Arguments } from '../../commands/arguments.js'
import { latin1Bytes, viewOf } from '../../core/bytes.js'
import { findSpec } from '../../commands/command-specs.js'
import { CROSS_SLOT, unknownCommand, wrongArity } from '../../commands/error-text.js'
import { findCommand, hasArity } from '../../commands/registry.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Slot } from '../session.js'
import { readReply } from './bucket-reply.js'
import { type Queued, Transaction, type Watched } from './client-state.js'
import { compositeOf } from './composites.js'
import { type Door, type DoorCommand, fits } from './door.js'

/** Commands that may be kept for one transaction. */
const QUEUED_MAX = 100_000
const EXEC_ABORT = 'EXECABORT Transaction discarded because of previous errors.'
/** Executed at once, also between MULTI and EXEC. */
const NEVER_QUEUED = new Set(['multi', 'exec', 'discard', 'watch', 'quit', 'reset'])

/** In the place of a hash: the keys of one command have several. */
const APART = -1

function hashOf(door: Door, key: Uint8Array): number {
  return door.execution.hash.hash(key, 0, key.length)
}

/** The hash of a command's keys, or the error if they are apart. */
function describe(door: Door, args: Arguments, isPlain = false): Queued | string {
  const request = args.bytes
  const command = findCommand(request, args.offset(0), args.length(0))
  if (command !== undefined && hasArity(command, args.count)) {
    const write = command.flags.includes('write')
    return { request, hash: hashOf(door, args.at(command.key)), write }
  }
  const composite = compositeOf(args)
  if (composite === undefined) return { request, hash: undefined, write: false }
  const places = composite.keys(args)
  if (typeof places === 'string') return { request, hash: undefined, write: false }
  const hashes = new Set(places.map((place) => hashOf(door, args.at(place))))
  if (hashes.size > 1)
    return isPlain ? { request, hash: APART, write: composite.write } : CROSS_SLOT
  return { request, hash: [...hashes].at(0), write: composite.write }
}

/** Keeps a command for EXEC; false if it is one that is executed at once. */
export function queue(
  door: Door,
  slot: Slot,
  find: (name: string) => DoorCommand | undefined
): boolean {
  const { transaction } = slot.session.client
  if (transaction === undefined) return false
  const args = door.execution.parse(slot.request)
  const name = args.word(0)
  if (NEVER_QUEUED.has(name)) return false
  const refuse = (text: string): boolean => {
    transaction.failed = true
    door.refuse(slot, text)
    return true
  }
  const command = findCommand(args.bytes, args.offset(0), args.length(0))
  const named = find(name)
  if (command === undefined && named === undefined) {
    return refuse(unknownCommand(args.text(0), args.texts(1)))
  }
  const fitsOne = command !== undefined && hasArity(command, args.count)
  if (!fitsOne && (named === undefined || !fits(named.arity, args.count))) {
    return refuse(wrongArity(name))
  }
  if (findSpec(name)?.flags.includes('no_multi') === true) {
    return refuse('ERR Command not allowed inside a transaction')
  }
  const { isClusterAware, client } = slot.session
  const isPlain = !isClusterAware && (client.watched ?? []).length === 0
  const queued = describe(door, args, isPlain)
  if (typeof queued === 'string') return refuse(queued)
  const first = transaction.queued.find(({ hash }) => hash !== undefined)
  const apart = first !== undefined && queued.hash !== undefined && first.hash !== queued.hash
  if (apart && !isPlain) return refuse(CROSS_SLOT)
  const moved = queued.hash === undefined ? undefined : door.moved(slot.session, queued.hash)
  if (moved !== undefined) return refuse(moved)
  if (transaction.queued.length >= QUEUED_MAX) return refuse('ERR too many commands in MULTI')
  transaction.queued.push(queued)
  door.reply(slot, (reply) => reply.simple('QUEUED'))
  return true
}

function clear(slot: Slot): void {
  const { session } = slot
  session.client.transaction = undefined
  session.client.watched = undefined
  session.updateAside()
}

const MULTI = {
  name: 'multi',
  arity: 1,
  execute(door, slot) {
    const { session } = slot
    if (session.client.transaction !== undefined) {
      door.refuse(slot, 'ERR MULTI calls can not be nested')
      return
    }
    session.client.transaction = new Transaction()
    session.updateAside()
    door.reply(slot, (reply) => reply.ok())
  }
} as const satisfies DoorCommand

const DISCARD = {
  name: 'discard',
  arity: 1,
  execute(door, slot) {
    if (slot.session.client.transaction === undefined) {
      door.refuse(slot, 'ERR DISCARD without MULTI')
      return
    }
    clear(slot)
    door.reply(slot, (reply) => reply.ok())
  }
} as const satisfies DoorCommand

const WATCH = {
  name: 'watch',
  arity: -2,
  execute(door, slot, args) {
    const { client } = slot.session
    if (client.transaction !== undefined) {
      door.refuse(slot, 'ERR WATCH inside MULTI is not allowed')
      return
    }
    const watched = (client.watched ??= [])
    // Nothing may be begun before it is known what is watched.
    slot.session.waitsAlone = true
    const keys = args.texts(1).map(latin1Bytes)
    const requests = keys.map((key) => encodeArguments([latin1Bytes('OC.VERSION'), key]))
    door.ask(slot, requests, (parts) => {
      const versions = parts.map(readVersion)
      if (versions.includes(undefined)) {
        door.refuse(slot, 'OC_TIMEOUT nobody could serve this in time')
        return
      }
      // What was watched before is watched as it was then.
      keys.forEach((key, i) => watched.push({ key, version: versions[i] ?? '' }))
      door.reply(slot, (reply) => reply.ok())
    })
  }
} as const satisfies DoorCommand

function readVersion(part: Uint8Array): string | undefined {
  const value = readReply(part)
  return value instanceof Uint8Array ? String.fromCharCode(...value) : undefined
}

const UNWATCH = {
  name: 'unwatch',
  arity: 1,
  execute(door, slot) {
    slot.session.client.watched = undefined
    door.reply(slot, (reply) => reply.ok())
  }
} as const satisfies DoorCommand

const EXEC = {
  name: 'exec',
  arity: 1,
  wrongArity(door, slot) {
    clear(slot)
    const why = wrongArity('exec').replace(/^ERR /, '')
    door.refuse(slot, `EXECABORT Transaction discarded because of: ${why}`)
  },
  execute(door, slot) {
    const { transaction, watched = [] } = slot.session.client
    if (transaction === undefined) {
      door.refuse(slot, 'ERR EXEC without MULTI')
      return
    }
    clear(slot)
    if (transaction.failed) {
      door.refuse(slot, EXEC_ABORT)
      return
    }
    if (isApart(transaction.queued)) {
      executeApart(door, slot, transaction.queued)
      return
    }
    const hash = transaction.queued.find((queued) => queued.hash !== undefined)?.hash
    const isHere = ({ key }: Watched): boolean => hashOf(door, key) === hash
    const elsewhere = watched.filter((one) => !isHere(one))
    const requests = elsewhere.map(({ key }) => encodeArguments([latin1Bytes('OC.VERSION'), key]))
    door.ask(slot, requests, (parts) => {
      if (parts.some((part, i) => readVersion(part) !== elsewhere[i].version)) {
        door.reply(slot, (reply) => reply.nilArray())
      } else
        execute(door, slot, { queued: transaction.queued, hash, watched: watched.filter(isHere) })
    })
  }
} as const satisfies DoorCommand

function execute(
  door: Door,
  slot: Slot,
  { queued, hash, watched }: { queued: Queued[]; hash: number | undefined; watched: Watched[] }
): void {
  const about = queued.filter((one) => one.hash !== undefined)
  const others = queued.filter((one) => one.hash === undefined)
  const write = about.some((one) => one.write)
  const whole = encodeArguments([
    ...['OC.EXEC', String(hash), write ? '1' : '0', String(watched.length)].map(latin1Bytes),
    ...watched.flatMap(({ key, version }) => [key, latin1Bytes(version)]),
    ...about.map(({ request }) => request)
  ])
  const requests = others.map(({ request }) => request)
  door.ask(slot, hash === undefined ? requests : [whole, ...requests], (parts) => {
    if (hash === undefined) {
      replyAll(door, slot, parts)
      return
    }
    const value = readReply(parts[0])
    if (!Array.isArray(value)) {
      // Somebody changed what was watched, or it could not be executed.
      door.reply(slot, (reply) => {
        if (value === null) reply.nilArray()
        else reply.raw(parts[0], 0, parts[0].length)
      })
      return
    }
    const [done, alone] = [value.values(), parts.slice(1).values()]
    const inOrder: Uint8Array[] = []
    for (const one of queued) {
      const part = one.hash === undefined ? alone.next().value : done.next().value
      if (part instanceof Uint8Array) inOrder.push(part)
    }
    replyAll(door, slot, inOrder)
  })
}

function isApart(queued: readonly Queued[]): boolean {
  const hashes = new Set(queued.map(({ hash }) => hash).filter((hash) => hash !== undefined))
  return hashes.size > 1 || hashes.has(APART)
}

/** Commands that may be executed at the same time, since each slot's are together; by their places in the queue. */
function stepsOf(queued: readonly Queued[]): number[][][] {
  const steps: number[][][] = []
  let groups = new Map<number | undefined, number[]>()
  const close = (): void => {
    if (groups.size > 0) steps.push([...groups.values()])
    groups = new Map()
  }
  queued.forEach(({ hash }, place) => {
    if (hash === undefined || hash === APART) {
      close()
      steps.push([[place]])
    } else groups.set(hash, [...(groups.get(hash) ?? []), place])
  })
  close()
  return steps
}

function executeApart(door: Door, slot: Slot, queued: readonly Queued[]): void {
  const steps = stepsOf(queued)
  const done: Uint8Array[] = []
  const next = (index: number): void => {
    if (index === steps.length) {
      replyAll(door, slot, done)
      return
    }
    const step = steps[index]
    const requests = step.map((places) => {
      const { request, hash } = queued[places[0]]
      if (hash === undefined || hash === APART) return request
      const write = places.some((place) => queued[place].write)
      const head = ['OC.EXEC', String(hash), write ? '1' : '0', '0'].map(latin1Bytes)
      return encodeArguments([...head, ...places.map((place) => queued[place].request)])
    })
    door.ask(slot, requests, (parts) => {
      step.forEach((places, i) => take(parts[i], places))
      next(index + 1)
    })
  }
  /** A part that could not be executed stands for all its commands. */
  const take = (part: Uint8Array, places: readonly number[]): void => {
    const value = queued[places[0]].hash === undefined ? undefined : readReply(part)
    const isWhole = Array.isArray(value) && queued[places[0]].hash !== APART
    places.forEach((place, i) => {
      const one = isWhole ? value[i] : part
      done[place] = one instanceof Uint8Array ? one : part
    })
  }
  next(0)
}

function replyAll(door: Door, slot: Slot, parts: readonly Uint8Array[]): void {
  door.reply(slot, (reply) => {
    reply.array(parts.length)
    for (const part of parts) reply.raw(part, 0, part.length)
  })
}

/** Whether these bytes are one command, and all its keys have this hash. */
function isAbout(door: Door, request: Uint8Array, hash: number): boolean {
  const args = door.execution.parseAny(request)
  const described = args === undefined ? undefined : describe(door, args)
  return typeof described === 'object' && described.hash === hash
}

/** Answers the replies as payloads, so that whoever asked can put them in their places. */
const OC_EXEC = {
  name: 'oc.exec',
  arity: -5,
  execute(door, slot, args) {
    const [hash, watches] = [args.integer(1), args.integer(3)]
    const first = 4 + watches * 2
    if (!(hash >= 0 && watches >= 0) || first >= args.count) {
      door.refuse(slot, 'ERR not a transaction')
      return
    }
    const { protocol } = slot.session
    const { execution } = door
    // It comes from other nodes, but anybody can say it.
    const requests: Uint8Array[] = []
    for (let place = first; place < args.count; place++) requests.push(args.at(place).slice())
    if (!requests.every((request) => isAbout(door, request, hash))) {
      door.refuse(slot, 'ERR not a transaction')
      return
    }
    door.serve(slot, { hash, write: args.text(2) === '1' }, (state, reply) => {
      const work = execution.workOn(state, args, execution.nowhere)
      for (let place = 4; place < first; place += 2) {
        const ref = work.find(args.at(place))
        const version = ref === 0 ? 0 : state.items.versionOf(ref)
        if (String(version) !== args.text(place + 1)) {
          reply.nil()
          return false
        }
      }
      const replies = requests.map((request) => work.runAny(request, protocol))
      reply.array(replies.length)
      for (const bytes of replies) reply.bulk(bytes, viewOf(bytes), 0, bytes.length)
      return work.changed
    })
  }
} as const satisfies DoorCommand

export const TRANSACTION_COMMANDS: readonly DoorCommand[] = [
  MULTI,
  EXEC,
  DISCARD,
  WATCH,
  UNWATCH,
  OC_EXEC
]
