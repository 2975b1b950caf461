/** CLIENT TRACKING, CACHING, GETREDIR, TRACKINGINFO. */
import type { Arguments } from '../../commands/arguments.js'
import { SYNTAX_ERROR } from '../../commands/error-text.js'
import type { Session } from '../session.js'
import { ClientTracking } from './client-state.js'
import type { Subcommand } from './container.js'
import type { Door } from './door.js'

const SWITCHED =
  'before disabling tracking for this client, and then re-enabling it with a different mode.'

interface Wish {
  readonly on: boolean
  redirect: number
  bcast: boolean
  optIn: boolean
  optOut: boolean
  noLoop: boolean
  readonly prefixes: string[]
}

function readWish(door: Door, args: Arguments): Wish | string {
  const word = args.word(2)
  if (word !== 'on' && word !== 'off') return SYNTAX_ERROR
  const flags = { bcast: false, optIn: false, optOut: false, noLoop: false }
  const wish: Wish = { on: word === 'on', redirect: 0, ...flags, prefixes: [] }
  for (let place = 3; place < args.count; place++) {
    const option = args.word(place)
    const hasMore = place + 1 < args.count
    if (option === 'redirect' && hasMore) {
      if (wish.redirect !== 0) return 'ERR A client can only redirect to a single other client'
      wish.redirect = args.integer(++place)
      if (Number.isNaN(wish.redirect)) return 'ERR value is not an integer or out of range'
      if (door.session(wish.redirect) === undefined) {
        return 'ERR The client ID you want redirect to does not exist'
      }
    } else if (option === 'bcast') wish.bcast = true
    else if (option === 'optin') wish.optIn = true
    else if (option === 'optout') wish.optOut = true
    else if (option === 'noloop') wish.noLoop = true
    else if (option === 'prefix' && hasMore) wish.prefixes.push(args.text(++place))
    else return SYNTAX_ERROR
  }
  return wish
}

/** What is wrong with it for a client that may track already. */
function objection(wish: Wish, known: ClientTracking | undefined): string | undefined {
  if (wish.prefixes.length > 0 && !wish.bcast) {
    return 'ERR PREFIX option requires BCAST mode to be enabled'
  }
  if (known !== undefined && known.bcast !== wish.bcast) {
    return `ERR You can't switch BCAST mode on/off ${SWITCHED}`
  }
  if (wish.bcast && (wish.optIn || wish.optOut)) {
    return 'ERR OPTIN and OPTOUT are not compatible with BCAST'
  }
  if (wish.optIn && wish.optOut) return "ERR You can't specify both OPTIN mode and OPTOUT mode"
  if (known !== undefined && ((wish.optIn && known.optOut) || (wish.optOut && known.optIn))) {
    return `ERR You can't switch OPTIN/OPTOUT mode ${SWITCHED}`
  }
  return overlap(wish.prefixes, known?.prefixes ?? [])
}

function overlap(wanted: readonly string[], known: readonly string[]): string | undefined {
  const rest = 'Prefixes for a single client must not overlap.'
  for (const [i, one] of wanted.entries()) {
    for (const other of known) {
      if (one === other || !(one.startsWith(other) || other.startsWith(one))) continue
      return `ERR Prefix '${one}' overlaps with an existing prefix '${other}'. ${rest}`
    }
    for (const other of wanted.slice(i + 1)) {
      if (!(one.startsWith(other) || other.startsWith(one))) continue
      return `ERR Prefix '${one}' overlaps with another provided prefix '${other}'. ${rest}`
    }
  }
  return undefined
}

const TRACKING: Subcommand = {
  arity: -3,
  execute(door, slot, args) {
    const { session } = slot
    const wish = readWish(door, args)
    const wrong =
      typeof wish === 'string' ? wish : wish.on ? objection(wish, session.tracking) : undefined
    if (typeof wish === 'string' || wrong !== undefined) {
      door.refuse(slot, wrong ?? SYNTAX_ERROR)
      return
    }
    const known = session.tracking
    const prefixes = [...new Set([...(known?.prefixes ?? []), ...wish.prefixes])]
    if (!wish.on) door.tracking.off(session)
    else {
      // Without a prefix it is about everything.
      const all = wish.bcast && prefixes.length === 0 ? [''] : prefixes
      door.tracking.on(session, new ClientTracking({ ...wish, prefixes: all }))
      if (wish.bcast) {
        slot.gates = [{ peer: door.watches.confirmation, frame: door.ownPatternsVersion }]
      }
    }
    door.reply(slot, (reply) => reply.ok())
  }
}

const CACHING: Subcommand = {
  arity: 3,
  execute(door, slot, args) {
    const { tracking } = slot.session
    const word = args.word(2)
    if (tracking === undefined || !(tracking.optIn || tracking.optOut)) {
      door.refuse(
        slot,
        'ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled'
      )
    } else if (word !== 'yes' && word !== 'no') door.refuse(slot, SYNTAX_ERROR)
    else if (word === 'yes' && !tracking.optIn) {
      door.refuse(
        slot,
        'ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.'
      )
    } else if (word === 'no' && !tracking.optOut) {
      door.refuse(
        slot,
        'ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.'
      )
    } else {
      tracking.caching = word
      door.reply(slot, (reply) => reply.ok())
    }
  }
}

function flagsOf(door: Door, { tracking }: Session): string[] {
  if (tracking === undefined) return ['off']
  const flags = ['on']
  if (tracking.bcast) flags.push('bcast')
  if (tracking.optIn) flags.push('optin')
  if (tracking.optIn && tracking.caching === 'yes') flags.push('caching-yes')
  if (tracking.optOut) flags.push('optout')
  if (tracking.optOut && tracking.caching === 'no') flags.push('caching-no')
  if (tracking.noLoop) flags.push('noloop')
  const { redirect } = tracking
  if (redirect !== 0 && door.session(redirect) === undefined) flags.push('broken_redirect')
  return flags
}

function redirectOf({ tracking }: Session): number {
  return tracking?.redirect ?? -1
}

export const TRACKING_PARTS: Readonly<Record<string, Subcommand>> = {
  tracking: TRACKING,
  caching: CACHING,
  getredir: {
    arity: 2,
    execute: (door, slot) => door.reply(slot, (reply) => reply.integer(redirectOf(slot.session)))
  },
  trackinginfo: {
    arity: 2,
    execute(door, slot) {
      const { session } = slot
      const flags = flagsOf(door, session)
      const prefixes = [...(session.tracking?.prefixes ?? [])].sort()
      door.reply(slot, (reply) => {
        reply.map(3)
        reply.bulkString('flags')
        reply.set(flags.length)
        for (const flag of flags) reply.bulkString(flag)
        reply.bulkString('redirect')
        reply.integer(redirectOf(session))
        reply.bulkString('prefixes')
        reply.array(prefixes.length)
        for (const prefix of prefixes) reply.bulkString(prefix)
      })
    }
  }
}
