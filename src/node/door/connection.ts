/** Commands about the conversation itself. */
import {
  CLIENT_NAME,
  NEGATIVE_TIMEOUT,
  NO_PROTOCOL,
  NOT_AN_INTEGER,
  WRONG_PASS,
  wrongArity
} from '../../commands/error-text.js'
import type { Arguments } from '../../commands/arguments.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { Session } from '../session.js'
import type { Door, DoorCommand } from './door.js'
import { SERVER_VERSION } from './identity.js'

const PING = {
  name: 'ping',
  arity: -1,
  execute(door, slot, args) {
    const listens = slot.session.isListening
    door.reply(slot, (reply) => {
      if (listens && args.count <= 2) {
        reply.array(2)
        reply.bulkString('pong')
        reply.bulkString(args.text(1))
      } else if (args.count > 2) reply.error(wrongArity('ping'))
      else if (args.count === 2) reply.bulkString(args.text(1))
      else reply.pong()
    })
  }
} as const satisfies DoorCommand

const ECHO = {
  name: 'echo',
  arity: 2,
  execute: (door, slot, args) => door.reply(slot, (reply) => reply.bulkString(args.text(1)))
} as const satisfies DoorCommand

const QUIT = {
  name: 'quit',
  arity: -1,
  execute(door, slot) {
    door.reply(slot, (reply) => reply.ok())
    door.end(slot.session)
  }
} as const satisfies DoorCommand

const RESET = {
  name: 'reset',
  arity: 1,
  alone: true,
  execute(door, slot) {
    const { session } = slot
    session.protocol = 2
    door.pubsub.forget(session)
    door.tracking.off(session)
    door.maintenance.off(session)
    session.client.reset()
    door.observer.forget(session)
    session.updateAside()
    slot.silent = false
    door.reply(slot, (reply) => reply.simple('RESET'))
  }
} as const satisfies DoorCommand

const SELECT = {
  name: 'select',
  arity: 2,
  execute(door, slot, args) {
    const index = args.integer(1)
    if (Number.isNaN(index)) door.refuse(slot, NOT_AN_INTEGER)
    else if (index !== 0) door.refuse(slot, 'ERR SELECT is not allowed in cluster mode')
    else door.reply(slot, (reply) => reply.ok())
  }
} as const satisfies DoorCommand

/** Until there are users there is one, who needs no password. */
function mayEnter(user: string): boolean {
  return user === 'default'
}

const AUTH = {
  name: 'auth',
  arity: -2,
  execute(door, slot, args) {
    if (args.count > 3) door.refuse(slot, 'ERR syntax error')
    else if (args.count === 2) {
      door.refuse(
        slot,
        'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?'
      )
    } else if (mayEnter(args.text(1))) door.reply(slot, (reply) => reply.ok())
    else door.refuse(slot, WRONG_PASS)
  }
} as const satisfies DoorCommand

/** Printable, and no blank: it stands in a list of words. */
export function isClientName(name: string): boolean {
  return /^[!-~]*$/.test(name)
}

interface Hello {
  readonly protocol: 2 | 3 | undefined
  readonly name: string | undefined
}

function readHello(args: Arguments): Hello | string {
  let protocol: 2 | 3 | undefined
  if (args.count > 1) {
    const version = args.integer(1)
    if (Number.isNaN(version)) return 'ERR Protocol version is not an integer or out of range'
    if (version !== 2 && version !== 3) return NO_PROTOCOL
    protocol = version
  }
  let name: string | undefined
  let user: string | undefined
  for (let place = 2; place < args.count; place++) {
    const word = args.word(place)
    if (word === 'auth' && place + 2 < args.count) {
      user = args.text(place + 1)
      place += 2
    } else if (word === 'setname' && place + 1 < args.count) {
      name = args.text(place + 1)
      place++
      if (!isClientName(name)) return CLIENT_NAME
    } else return `ERR Syntax error in HELLO option '${args.text(place)}'`
  }
  if (user !== undefined && !mayEnter(user)) return WRONG_PASS
  return { protocol, name }
}

function writeHello(reply: ReplyWriter, { id, protocol, origin }: Session): void {
  reply.protocol = protocol
  reply.map(7)
  reply.bulkString('server')
  reply.bulkString('redis')
  reply.bulkString('version')
  reply.bulkString(SERVER_VERSION)
  reply.bulkString('proto')
  reply.integer(protocol)
  reply.bulkString('id')
  reply.integer(id)
  reply.bulkString('mode')
  reply.bulkString('cluster')
  reply.bulkString('role')
  reply.bulkString(origin.asReplica ? 'replica' : 'master')
  reply.bulkString('modules')
  reply.array(0)
}

const HELLO = {
  name: 'hello',
  arity: -1,
  alone: true,
  execute(door, slot, args) {
    const { session } = slot
    const hello = readHello(args)
    if (typeof hello === 'string') {
      door.refuse(slot, hello)
      return
    }
    session.protocol = hello.protocol ?? session.protocol
    if (hello.name !== undefined) session.client.name = hello.name
    session.updateAside()
    door.reply(slot, (reply) => writeHello(reply, session))
  }
} as const satisfies DoorCommand

const TIME = {
  name: 'time',
  arity: 1,
  execute(door, slot) {
    const { now } = door.cluster
    door.reply(slot, (reply) => {
      reply.array(2)
      reply.bulkString(String(Math.floor(now / 1000)))
      reply.bulkString(String(Math.floor((now % 1000) * 1000)))
    })
  }
} as const satisfies DoorCommand

/** Nothing is ever saved as a whole; everything is as safe as it gets all the time. */
const LASTSAVE = {
  name: 'lastsave',
  arity: 1,
  execute(door, slot) {
    const seconds = Math.floor(door.cluster.config.life / 1000)
    door.reply(slot, (reply) => reply.integer(seconds))
  }
} as const satisfies DoorCommand

/** How many nodes besides the primary have what was written: those of a whole row, as far as they live. */
function countBackups({ cluster }: Door): number {
  let living = 0
  for (const peer of cluster.peers.all()) if (peer.isOpen && !peer.left) living++
  return Math.min(cluster.view.arrangement.copies - 1, living)
}

/** Whoever waits for acknowledgements anyway has them once everything before this has been answered. */
const WAIT = {
  name: 'wait',
  arity: 3,
  execute(door, slot, args) {
    if (Number.isNaN(args.integer(1))) door.refuse(slot, NOT_AN_INTEGER)
    else if (Number.isNaN(args.integer(2))) {
      door.refuse(slot, 'ERR timeout is not an integer or out of range')
    } else if (args.integer(2) < 0) door.refuse(slot, NEGATIVE_TIMEOUT)
    else {
      door.whenFirst(slot, () => door.reply(slot, (reply) => reply.integer(countBackups(door))))
    }
  }
} as const satisfies DoorCommand

/** Whether the replies to writes wait for the backups. */
const OC_ACKS = {
  name: 'oc.acks',
  arity: 2,
  alone: true,
  execute(door, slot, args) {
    const acks = args.word(1)
    if (acks === 'all' || acks === 'primary') slot.session.acksAll = acks === 'all'
    door.reply(slot, (reply) => {
      if (acks === 'all' || acks === 'primary') reply.ok()
      else reply.error('ERR acks are all or primary')
    })
  }
} as const satisfies DoorCommand

export const CONNECTION_COMMANDS: readonly DoorCommand[] = [
  PING,
  ECHO,
  QUIT,
  RESET,
  SELECT,
  AUTH,
  HELLO,
  TIME,
  LASTSAVE,
  WAIT,
  OC_ACKS
]
