/** CLIENT: what the clients of this node are, and how this one wants to be treated. */
import type { Arguments } from '../../commands/arguments.js'
import { CLIENT_NAME, NOT_AN_INTEGER, SYNTAX_ERROR } from '../../commands/error-text.js'
import type { Session, Slot } from '../session.js'
import { isClientName } from './connection.js'
import { container, type Subcommand } from './container.js'
import { encodePause, type Paused } from './pause.js'
import { TRACKING_PARTS } from './tracking-command.js'
import type { Door } from './door.js'

const TYPES = ['normal', 'master', 'replica', 'slave', 'pubsub']

function flagsOf({ client, subscriptions }: Session): string {
  const flags = (subscriptions === undefined ? '' : 'P') + (client.noEvict ? 'e' : '')
  return flags === '' ? 'N' : flags
}

/** Whether a client is of this type, as CLIENT LIST and CLIENT KILL name them. */
function isOfType({ subscriptions }: Session, type: string): boolean {
  return type === (subscriptions === undefined ? 'normal' : 'pubsub')
}

/** One line of CLIENT LIST; the names and their order are read by programs. */
function describe(door: Door, session: Session): string {
  const { client, subscriptions } = session
  const { now } = door.cluster
  const age = Math.floor((now - session.openedMs) / 1000)
  const idle = Math.floor((now - Math.max(session.heardMs, session.openedMs)) / 1000)
  const fields = {
    id: session.id,
    addr: session.origin.from,
    laddr: session.origin.to || door.cluster.config.address,
    fd: session.id,
    name: client.name,
    age,
    idle,
    flags: flagsOf(session),
    db: 0,
    sub: subscriptions?.channels.size ?? 0,
    psub: subscriptions?.patterns.size ?? 0,
    ssub: subscriptions?.shards.size ?? 0,
    multi: -1,
    qbuf: session.input.length,
    'qbuf-free': session.input.bytes.length - session.input.length,
    'argv-mem': 0,
    'multi-mem': 0,
    rbs: 0,
    rbp: 0,
    obl: 0,
    oll: 0,
    omem: session.queuedReplyBytes,
    'tot-mem': session.queuedBytes,
    events: 'r',
    cmd: client.lastCommand,
    user: 'default',
    redir: session.tracking?.redirect ?? -1,
    resp: session.protocol,
    'lib-name': client.libraryName,
    'lib-ver': client.libraryVersion
  }
  const words = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  return `${words.join(' ')}\n`
}

function replyLines(door: Door, slot: Slot, sessions: readonly Session[]): void {
  const text = sessions.map((session) => describe(door, session)).join('')
  door.reply(slot, (reply) => reply.verbatim('txt', text))
}

const LIST: Subcommand = {
  arity: -2,
  execute(door, slot, args) {
    const all = [...door.sessions()]
    if (args.count === 2) replyLines(door, slot, all)
    else if (args.count === 4 && args.word(2) === 'type') {
      const type = args.word(3)
      if (!TYPES.includes(type)) door.refuse(slot, `ERR Unknown client type '${args.text(3)}'`)
      else
        replyLines(
          door,
          slot,
          all.filter((session) => isOfType(session, type))
        )
    } else if (args.count > 3 && args.word(2) === 'id') {
      const ids = args.texts(3).map(Number)
      if (ids.some((id) => !(id > 0))) door.refuse(slot, 'ERR Invalid client ID')
      else
        replyLines(
          door,
          slot,
          all.filter(({ id }) => ids.includes(id))
        )
    } else door.refuse(slot, SYNTAX_ERROR)
  }
}

interface KillFilter {
  id?: number
  type?: string
  from?: string
  to?: string
  user?: string
  skipMe: boolean
}

function readKillFilter(args: Arguments): KillFilter | string {
  const filter: KillFilter = { skipMe: true }
  for (let place = 2; place < args.count; place += 2) {
    if (place + 1 >= args.count) return SYNTAX_ERROR
    const value = args.text(place + 1)
    const word = value.toLowerCase()
    switch (args.word(place)) {
      case 'id':
        filter.id = args.integer(place + 1)
        if (Number.isNaN(filter.id)) return 'ERR client-id should be greater than 0'
        if (filter.id <= 0) return 'ERR client-id should be greater than 0'
        break
      case 'type':
        if (!TYPES.includes(word)) return `ERR Unknown client type '${value}'`
        filter.type = word
        break
      case 'addr':
        filter.from = value
        break
      case 'laddr':
        filter.to = value
        break
      case 'user':
        if (value !== 'default') return `ERR No such user '${value}'`
        filter.user = value
        break
      case 'skipme':
        if (word !== 'yes' && word !== 'no') return SYNTAX_ERROR
        filter.skipMe = word === 'yes'
        break
      default:
        return SYNTAX_ERROR
    }
  }
  return filter
}

function kill(door: Door, slot: Slot, session: Session): void {
  if (session === slot.session) door.end(session)
  else door.hangUp(session)
}

/** The older form, by its address alone. */
function killOne(door: Door, slot: Slot, from: string): void {
  const session = [...door.sessions()].find(({ origin }) => origin.from === from)
  if (session === undefined) {
    door.refuse(slot, 'ERR No such client')
    return
  }
  door.reply(slot, (reply) => reply.ok())
  kill(door, slot, session)
}

const KILL: Subcommand = {
  arity: -3,
  execute(door, slot, args) {
    if (args.count === 3) {
      killOne(door, slot, args.text(2))
      return
    }
    const filter = readKillFilter(args)
    if (typeof filter === 'string') {
      door.refuse(slot, filter)
      return
    }
    const chosen = [...door.sessions()].filter(
      (session) =>
        (filter.from === undefined || filter.from === session.origin.from) &&
        (filter.to === undefined || filter.to === session.origin.to) &&
        (filter.id === undefined || filter.id === session.id) &&
        (filter.type === undefined || isOfType(session, filter.type)) &&
        !(filter.skipMe && session === slot.session)
    )
    door.reply(slot, (reply) => reply.integer(chosen.length))
    for (const session of chosen) kill(door, slot, session)
  }
}

const SETNAME: Subcommand = {
  arity: 3,
  execute(door, slot, args) {
    if (!isClientName(args.text(2))) {
      door.refuse(slot, CLIENT_NAME)
      return
    }
    slot.session.client.name = args.text(2)
    door.reply(slot, (reply) => reply.ok())
  }
}

const SETINFO: Subcommand = {
  arity: 4,
  execute(door, slot, args) {
    const { client } = slot.session
    const [option, value] = [args.word(2), args.text(3)]
    if (option !== 'lib-name' && option !== 'lib-ver') {
      door.refuse(slot, `ERR Unrecognized option '${args.text(2)}'`)
    } else if (!isClientName(value)) {
      door.refuse(slot, `ERR ${option} cannot contain spaces, newlines or special characters.`)
    } else {
      if (option === 'lib-name') client.libraryName = value
      else client.libraryVersion = value
      door.reply(slot, (reply) => reply.ok())
    }
  }
}

const REPLY: Subcommand = {
  arity: 3,
  execute(door, slot, args) {
    const { session } = slot
    const mode = args.word(2)
    if (mode !== 'on' && mode !== 'off' && mode !== 'skip') {
      door.refuse(slot, SYNTAX_ERROR)
      return
    }
    // Whoever has none at all does not get less by skipping one.
    if (mode !== 'skip' || !slot.silent) session.client.replies = mode
    slot.silent = mode !== 'on'
    session.updateAside()
    door.reply(slot, (reply) => reply.ok())
  }
}

function flag(set: (session: Session, on: boolean) => void): Subcommand {
  return {
    arity: 3,
    execute(door, slot, args) {
      const word = args.word(2)
      if (word !== 'on' && word !== 'off') {
        door.refuse(slot, SYNTAX_ERROR)
        return
      }
      set(slot.session, word === 'on')
      door.reply(slot, (reply) => reply.ok())
    }
  }
}

/** Answered when all nodes know it. */
function pause(door: Door, slot: Slot, ms: number, what: Paused): void {
  door.pause(ms, what)
  door.poll(slot, encodePause(ms, what), () => door.reply(slot, (reply) => reply.ok()))
}

/** How long, and whether reads go on: `CLIENT PAUSE ms [WRITE | ALL]`. */
const PAUSE: Subcommand = {
  arity: -3,
  execute(door, slot, args) {
    const ms = args.integer(2)
    const mode = args.count > 3 ? args.word(3) : 'all'
    if (args.count > 4 || (mode !== 'all' && mode !== 'write')) {
      door.refuse(slot, 'ERR CLIENT PAUSE mode must be WRITE or ALL')
    } else if (Number.isNaN(ms)) {
      door.refuse(slot, 'ERR timeout is not an integer or out of range')
    } else if (ms < 0) door.refuse(slot, 'ERR timeout is negative')
    else {
      pause(door, slot, ms, mode)
    }
  }
}

export const CLIENT = container('client', {
  id: {
    arity: 2,
    execute: (door, slot) => door.reply(slot, (reply) => reply.integer(slot.session.id))
  },
  getname: {
    arity: 2,
    execute(door, slot) {
      const { name } = slot.session.client
      door.reply(slot, (reply) => (name === '' ? reply.nil() : reply.bulkString(name)))
    }
  },
  setname: SETNAME,
  setinfo: SETINFO,
  list: LIST,
  info: {
    arity: 2,
    execute: (door, slot) => replyLines(door, slot, [slot.session])
  },
  kill: KILL,
  reply: REPLY,
  'no-evict': flag((session, on) => (session.client.noEvict = on)),
  'no-touch': flag((session, on) => (session.client.noTouch = on)),
  pause: PAUSE,
  unpause: {
    arity: 2,
    execute(door, slot) {
      pause(door, slot, 0, 'all')
    }
  },
  unblock: {
    arity: -3,
    execute(door, slot, args) {
      const why = args.word(3)
      if (args.count > 4 || (args.count === 4 && why !== 'timeout' && why !== 'error')) {
        door.refuse(slot, 'ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR')
      } else if (Number.isNaN(args.integer(2))) door.refuse(slot, NOT_AN_INTEGER)
      else {
        const id = args.integer(2)
        const session = [...door.sessions()].find((one) => one.id === id)
        const how = why === 'error' ? 'error' : 'timeout'
        const done = session !== undefined && door.blocked.unblockSession(session, how)
        door.reply(slot, (reply) => reply.integer(done ? 1 : 0))
      }
    }
  },
  ...TRACKING_PARTS,
  /** MAINT_NOTIFICATIONS ON|OFF [moving-endpoint-type …]: where slots go, told before a redirection. */
  maint_notifications: {
    arity: -3,
    execute(door, slot, args) {
      const { session } = slot
      const word = args.word(2)
      if (word !== 'on' && word !== 'off') door.refuse(slot, SYNTAX_ERROR)
      else if (session.protocol !== 3) door.refuse(slot, 'ERR maintenance notifications need RESP3')
      else {
        if (word === 'on') door.maintenance.on(session)
        else door.maintenance.off(session)
        door.reply(slot, (reply) => reply.ok())
      }
    }
  }
})
