/**
 * The names by which Redis tells what happened to a key, and the classes by which they are wanted:
 *
 *   g generic  $ strings  l lists  s sets  h hashes  z sorted sets  x expired  e evicted  t streams  d modules
 *   n new keys  m missed keys  A all but the last two  K by key  E by event
 *
 * What is executed is a command about one key. It may be a part of one over several keys, whose name then counts.
 */
import type { Call, Change } from '../../commands/call.js'

const IN_ALL = 'g$lshzxetd'
const OTHERS = 'nmKE'

/** The wanted classes in the form in which CONFIG GET shows them; undefined if they are none. */
export function normalizeClasses(text: string): string | undefined {
  const wanted = new Set<string>()
  for (const letter of text) {
    if (letter === 'A') for (const one of IN_ALL) wanted.add(one)
    else if (IN_ALL.includes(letter) || OTHERS.includes(letter)) wanted.add(letter)
    else return undefined
  }
  const isAll = Array.from(IN_ALL).every((letter) => wanted.has(letter))
  const order = isAll ? 'KEm' : `${IN_ALL}nKEm`
  const shown = Array.from(order)
    .filter((letter) => wanted.has(letter))
    .join('')
  // Redis does not show that new keys are wanted besides all the others, but remembers it.
  return `${isAll ? 'A' : ''}${isAll && wanted.has('n') ? 'n' : ''}${shown}`
}

export const WRONG_CLASSES = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."

/** Whether events of this class are wanted. */
export function wants(classes: string, letter: string): boolean {
  return classes.includes(letter) || (classes.includes('A') && IN_ALL.includes(letter))
}

/** Commands of a family with their own names. */
function family(letter: string, names: string): [string, string][] {
  return names.split(' ').map((name) => [name, letter + name])
}

function renamed(event: string, names: string): [string, string][] {
  return names.split(' ').map((name) => [name, event])
}

const EVENTS: ReadonlyMap<string, string> = new Map([
  ...family('$', 'set append setrange incrbyfloat setbit pfadd'),
  ...renamed('$set', 'setnx getset mset msetnx bitop'),
  ...renamed('$set gexpire', 'setex psetex'),
  ...renamed('$incrby', 'incr decr incrby decrby'),
  ...renamed('$setbit', 'bitfield'),
  ...renamed('$pfadd', 'pfmerge'),
  ...family('h', 'hset hdel hincrby hincrbyfloat'),
  ...renamed('hhset', 'hmset hsetnx'),
  ...family('l', 'lpush rpush lpop rpop linsert lset lrem ltrim'),
  ...renamed('llpush', 'lpushx'),
  ...renamed('lrpush', 'rpushx'),
  ...family('s', 'sadd srem spop sinterstore sunionstore sdiffstore'),
  ...family('z', 'zadd zrem zremrangebyscore zremrangebyrank zremrangebylex zpopmin zpopmax'),
  ...family('z', 'zinterstore zunionstore zdiffstore zrangestore geosearchstore'),
  ...renamed('zzincr', 'zincrby'),
  ...renamed('zgeoradiusstore', 'georadius georadiusbymember'),
  ...renamed('lsortstore', 'sort'),
  ...renamed('gexpire', 'expire pexpire expireat pexpireat'),
  ...renamed('gpersist', 'persist'),
  ...renamed('gdel', 'del unlink getdel'),
  ...renamed('grestore', 'restore'),
  ...renamed('gcopy_to', 'copy'),
  ...renamed('', 'pfcount oc.merge oc.put')
])

/** Commands over several keys that put a result where something else may have been. */
const STORES = new Set(
  'sinterstore sunionstore sdiffstore zinterstore zunionstore zdiffstore zrangestore geosearchstore georadius georadiusbymember sort'.split(
    ' '
  )
)
/** Those that are told as what they are made of. */
const TRANSPARENT = new Set('lmove rpoplpush blmove brpoplpush smove'.split(' '))
const EXPIRING = new Set(['ex', 'px', 'exat', 'pxat'])

/** A deletion before a result is put in its place is told only if nothing is put there. */
export function isMakingRoom(command: string, cause: string): boolean {
  return command === 'del' && STORES.has(cause)
}

/** The names of what a call has just done, each with its class before it. */
export function nameEvents(call: Call, change: Change, cause: string): string {
  if (change === 'expired') return 'xexpired'
  if (change === 'evicted') return 'eevicted'
  const command = call.text(0).toLowerCase()
  const own = nameOwn(call, command, cause)
  // Whatever takes the last element takes the key.
  if (change === 'deleted' && own !== 'gdel' && !own.startsWith('grename')) {
    return own.startsWith('g') || own === '' ? 'gdel' : `${own} gdel`
  }
  return own
}

function nameOwn(call: Call, command: string, cause: string): string {
  if (cause.startsWith('rename')) return command === 'del' ? 'grename_from' : 'grename_to'
  if (cause !== '' && command !== 'del' && !TRANSPARENT.has(cause)) {
    const whole = EVENTS.get(cause)
    if (whole !== undefined) return whole
  }
  switch (command) {
    case 'set':
      return hasOption(call, 3, EXPIRING) ? '$set gexpire' : '$set'
    case 'getex':
      return hasOption(call, 2, new Set(['persist'])) ? 'gpersist' : 'gexpire'
    case 'zadd':
      return hasOption(call, 2, new Set(['incr'])) ? 'zzincr' : 'zzadd'
    default:
      return EVENTS.get(command) ?? `g${command}`
  }
}

function hasOption(call: Call, from: number, options: ReadonlySet<string>): boolean {
  for (let place = from; place < call.count; place++) {
    if (call.lengths[place] <= 7 && options.has(call.text(place).toLowerCase())) return true
  }
  return false
}
