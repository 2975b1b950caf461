/**
 * Commands that take a key of any type. DEL, UNLINK, EXISTS and TOUCH are here for one key; those for
 * several (several-keys.ts) are made of them.
 */
import { kindOfType, TYPE_TOMBSTONE } from '../store/value-type.js'
import type { Call } from './call.js'
import type { Command } from './command.js'

function deleteKey(call: Call): void {
  const ref = call.bucket.find(call.key, call.now)
  if (ref === 0) {
    call.reply.integer(0)
    return
  }
  call.bucket.bury(ref, call.version)
  call.changed('deleted')
  call.reply.integer(1)
}

function countKey(call: Call): void {
  call.reply.integer(call.look() === 0 ? 0 : 1)
}

const DEL = {
  name: 'del',
  arity: 2,
  flags: ['write'],
  key: 1,
  execute: deleteKey
} as const satisfies Command

const UNLINK = {
  name: 'unlink',
  arity: 2,
  flags: ['write', 'fast'],
  key: 1,
  execute: deleteKey
} as const satisfies Command

const EXISTS = {
  name: 'exists',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: countKey
} as const satisfies Command

const TOUCH = {
  name: 'touch',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute: countKey
} as const satisfies Command

const TYPE = {
  name: 'type',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.look()
    call.reply.simple(ref === 0 ? 'none' : kindOfType(call.bucket.typeOf(ref)))
  }
} as const satisfies Command

/**
 * Sent by the primary to itself and its backups when an item's time is over, so that its deletion has a
 * version and a place in the order of writes like any other. An item that got a new time since is
 * left alone.
 */
const OC_EXPIRE = {
  name: 'oc.expire',
  arity: 2,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const { bucket, reply } = call
    const ref = bucket.findAny(call.key)
    if (ref === 0 || bucket.typeOf(ref) === TYPE_TOMBSTONE) {
      reply.integer(0)
      return
    }
    const expiry = bucket.expiryOf(ref)
    if (expiry === 0 || expiry > call.now) {
      reply.integer(0)
      return
    }
    bucket.bury(ref, call.version)
    call.changed('expired')
    reply.integer(1)
  }
} as const satisfies Command

/** Lets a key go because there is no room; the primary decides that, and only nodes say it to each other. */
const OC_EVICT = {
  name: 'oc.evict',
  arity: 2,
  flags: ['write', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.bucket.find(call.key, call.now)
    if (ref !== 0) {
      call.bucket.bury(ref, call.version)
      call.changed('evicted')
    }
    call.reply.integer(ref === 0 ? 0 : 1)
  }
} as const satisfies Command

export const KEY_COMMANDS: readonly Command[] = [
  DEL,
  UNLINK,
  EXISTS,
  TOUCH,
  TYPE,
  OC_EXPIRE,
  OC_EVICT
]
