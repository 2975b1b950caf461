/** SUBSCRIBE, PUBLISH, PUBSUB and their kin. */
import { latin1Bytes } from '../../core/bytes.js'
import type { Arguments } from '../../commands/arguments.js'
import { CROSS_SLOT } from '../../commands/error-text.js'
import { matchesGlob } from '../../core/glob.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { ReplyValue } from '../../wire/resp/reply-value.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import type { Session, Slot } from '../session.js'
import { readReply } from './bucket-reply.js'
import { container } from './container.js'
import type { Answer, Door, DoorCommand } from './door.js'
import type { Kind } from './pubsub.js'

/** What a client in RESP2 may still say while it listens. */
const WHILE_LISTENING = new Set(
  ['', 'p', 's']
    .flatMap((kind) => [`${kind}subscribe`, `${kind}unsubscribe`])
    .concat(['ping', 'quit', 'reset'])
)

/** The error for a command that cannot be executed while its client listens; undefined if it can be. */
export function whileListening(name: string): string | undefined {
  if (WHILE_LISTENING.has(name)) return undefined
  return `ERR Can't execute '${name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`
}

/** The number that a client is told after each change. */
function countOf({ subscriptions }: Session, kind: Kind): number {
  if (subscriptions === undefined) return 0
  const { channels, patterns, shards } = subscriptions
  return kind === 'shards' ? shards.size : channels.size + patterns.size
}

function confirm(reply: ReplyWriter, word: string, name: string | undefined, count: number): void {
  reply.push(3)
  reply.bulkString(word)
  if (name === undefined) reply.nil()
  else reply.bulkString(name)
  reply.integer(count)
}

/** In its turn: whatever comes on the channel comes behind the confirmation, and that behind earlier replies. */
function inTurn(door: Door, slot: Slot, act: () => void): void {
  // Those who want no replies hear this all the same, as everything that is pushed.
  slot.silent = false
  if (slot.collector === undefined) door.whenFirst(slot, act)
  else act()
}

/** Why a client that follows the topology cannot listen to these channels of shards here. */
function misplaced(door: Door, session: Session, args: Arguments): string | undefined {
  const hashes = new Set<number>()
  for (let place = 1; place < args.count; place++) {
    hashes.add(door.execution.hash.hash(args.bytes, args.offset(place), args.length(place)))
  }
  if (!session.isClusterAware || hashes.size === 0) return undefined
  const [first] = hashes
  return hashes.size > 1 ? CROSS_SLOT : door.moved(session, first)
}

function subscribe(word: string, kind: Kind): DoorCommand {
  return {
    name: word,
    arity: -2,
    alone: true,
    execute(door, slot, args) {
      const { session } = slot
      const wrong = kind === 'shards' ? misplaced(door, session, args) : undefined
      if (wrong !== undefined) {
        door.refuse(slot, wrong)
        return
      }
      const names = args.texts(1)
      inTurn(door, slot, () => {
        door.reply(slot, (reply) => {
          for (const name of names) {
            if (door.pubsub.add(session, kind, name)) {
              // Confirmed when every node knows that this one has to hear of keys.
              if (door.notifications.isAboutKeys(kind, name)) {
                slot.gates = [{ peer: door.watches.confirmation, frame: door.ownPatternsVersion }]
              }
              confirm(reply, word, name, countOf(session, kind))
            } else reply.error('ERR too many subscriptions')
          }
        })
      })
    }
  }
}

function unsubscribe(word: string, kind: Kind): DoorCommand {
  return {
    name: word,
    arity: -1,
    alone: true,
    execute(door, slot, args) {
      const { session } = slot
      const given = args.texts(1)
      inTurn(door, slot, () => {
        const names = args.count > 1 ? given : [...(session.subscriptions?.[kind] ?? [])]
        door.reply(slot, (reply) => {
          for (const name of names) {
            door.pubsub.remove(session, kind, name)
            confirm(reply, word, name, countOf(session, kind))
          }
          if (names.length === 0) confirm(reply, word, undefined, countOf(session, kind))
        })
      })
    }
  }
}

/** A channel whose slot has left: its listeners who follow the topology are told, and go after it. */
export function dropMisplacedShards(door: Door): void {
  const { pubsub, execution } = door
  if (pubsub.size('shards') === 0) return
  for (const name of [...pubsub.names('shards')]) {
    const bytes = latin1Bytes(name)
    const hash = execution.hash.hash(bytes, 0, bytes.length)
    for (const session of [...(pubsub.listeners('shards', name) ?? [])]) {
      if (door.moved(session, hash) === undefined) continue
      pubsub.remove(session, 'shards', name)
      door.push(session, (reply) =>
        confirm(reply, 'sunsubscribe', name, countOf(session, 'shards'))
      )
    }
  }
}

function publish(word: string, sharded: boolean): DoorCommand {
  return {
    name: word,
    arity: 3,
    loose: true,
    execute(door, slot, args) {
      const wrong = sharded ? door.moved(slot.session, hashOf(door, args)) : undefined
      if (wrong !== undefined) {
        door.refuse(slot, wrong)
        return
      }
      const own = door.pubsub.deliver(args.text(1), args.at(2), sharded)
      const request = [
        latin1Bytes('oc.publish'),
        latin1Bytes(sharded ? 's' : ''),
        args.at(1),
        args.at(2)
      ]
      door.poll(slot, encodeArguments(request), (replies) => {
        const others = replies.reduce((sum, reply) => sum + Number(readReply(reply)), 0)
        door.reply(slot, (reply) => reply.integer(own + others))
      })
    }
  }
}

function hashOf(door: Door, args: Arguments): number {
  return door.execution.hash.hash(args.bytes, args.offset(1), args.length(1))
}

/** Asks all nodes the same, this one included, and makes one reply of it. */
function gather(
  door: Door,
  slot: Slot,
  words: readonly string[],
  combine: (answers: ReplyValue[][], reply: ReplyWriter) => void
): void {
  const request = encodeArguments(words.map(latin1Bytes))
  door.poll(slot, request, (replies) => {
    const own = door.answer(request)
    const answers = [own, ...replies]
      .map(readReply)
      .map((value) => (Array.isArray(value) ? value : []))
    door.reply(slot, (reply) => combine(answers, reply))
  })
}

function namesOf(kind: Kind) {
  return {
    arity: -2,
    execute(door: Door, slot: Slot, args: Arguments): void {
      const pattern = args.count > 2 ? args.text(2) : '*'
      gather(door, slot, ['oc.channels', kind, pattern], (answers, reply) => {
        const names = new Set(answers.flat().map(toText))
        reply.array(names.size)
        for (const name of names) reply.bulkString(name)
      })
    }
  }
}

function countsOf(kind: Kind) {
  return {
    arity: -2,
    execute(door: Door, slot: Slot, args: Arguments): void {
      const names = args.texts(2)
      gather(door, slot, ['oc.listeners', kind, ...names], (answers, reply) => {
        reply.array(names.length * 2)
        names.forEach((name, place) => {
          reply.bulkString(name)
          reply.integer(answers.reduce((sum, counts) => sum + Number(counts[place] ?? 0), 0))
        })
      })
    }
  }
}

function toText(value: ReplyValue): string {
  return value instanceof Uint8Array
    ? Array.from(value, (byte) => String.fromCharCode(byte)).join('')
    : ''
}

const PUBSUB = container('pubsub', {
  channels: namesOf('channels'),
  shardchannels: namesOf('shards'),
  numsub: countsOf('channels'),
  shardnumsub: countsOf('shards'),
  numpat: {
    arity: 2,
    execute(door, slot) {
      // A pattern that is listened to on two nodes is one pattern.
      gather(door, slot, ['oc.channels', 'patterns', '*'], (answers, reply) => {
        reply.integer(new Set(answers.flat().map(toText)).size)
      })
    }
  }
})

export const PUBSUB_COMMANDS: readonly DoorCommand[] = [
  subscribe('subscribe', 'channels'),
  subscribe('psubscribe', 'patterns'),
  subscribe('ssubscribe', 'shards'),
  unsubscribe('unsubscribe', 'channels'),
  unsubscribe('punsubscribe', 'patterns'),
  unsubscribe('sunsubscribe', 'shards'),
  publish('publish', false),
  publish('spublish', true),
  PUBSUB
]

function kindOf(word: string): Kind {
  return word === 'patterns' || word === 'shards' ? word : 'channels'
}

/** What other nodes ask. */
export const PUBSUB_ANSWERS: Readonly<Record<string, Answer>> = {
  /** OC.PUBLISH s|'' channel message: how many heard it here. */
  'oc.publish': (door, args, reply) => {
    reply.integer(door.pubsub.deliver(args.text(2), args.at(3), args.text(1) === 's'))
  },
  /** OC.CHANNELS kind pattern: the names that somebody listens to here. */
  'oc.channels': (door, args, reply) => {
    const pattern = args.text(2)
    const names = [...door.pubsub.names(kindOf(args.text(1)))]
    const found = pattern === '*' ? names : names.filter((name) => matchesGlob(pattern, name))
    reply.array(found.length)
    for (const name of found) reply.bulkString(name)
  },
  /** OC.LISTENERS kind name…: how many listen to each here. */
  'oc.listeners': (door, args, reply) => {
    const names = args.texts(2)
    const kind = kindOf(args.text(1))
    reply.array(names.length)
    for (const name of names) reply.integer(door.pubsub.count(kind, name))
  }
}
