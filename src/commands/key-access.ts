/**
 * What commands do to their keys, as COMMAND GETKEYSANDFLAGS says it: RO, RW, OW (overwritten) or RM, and whether the
 * value is given out, changed, added to or taken from. Where the second and later keys are used otherwise than
 * the first, both are named.
 */
import type { CommandSpec } from './command-specs.js'

const READ = 'RO access'

const ACCESSES: readonly (readonly [string, string])[] = [
  ['RO', 'hstrlen hlen llen exists sismember scard hexists strlen zcard touch type watch'],
  ['RW update', 'zadd hset lset setrange hmset expire pexpireat geoadd pexpire expireat persist'],
  [
    'RW access update',
    'incr zincrby getset hincrby setbit decr incrby incrbyfloat hincrbyfloat getex decrby'
  ],
  ['RW access delete', 'spop zpopmax bzmpop zmpop rpop lpop getdel lmpop zpopmin blmpop'],
  ['RW access delete', 'blpop brpop bzpopmin bzpopmax'],
  ['RW insert', 'append linsert rpush lpush lpushx pfadd sadd hsetnx rpushx'],
  ['RW delete', 'zremrangebyrank zrem zremrangebylex srem ltrim hdel lrem zremrangebyscore'],
  ['OW update', 'mset restore setex restore-asking psetex set'],
  ['OW insert', 'msetnx setnx'],
  ['RM delete', 'del unlink'],
  ['RW access', 'pfcount'],
  ['RW access update', 'bitfield']
]

/** Of the first key, and of the others. */
const PAIRS: readonly (readonly [string, string, string])[] = [
  ['OW update', READ, 'sunionstore zinterstore bitop sdiffstore zrangestore geosearchstore'],
  ['OW update', READ, 'zdiffstore zunionstore'],
  ['RW access delete', 'RW insert', 'rpoplpush smove lmove blmove brpoplpush'],
  [READ, 'OW update', 'georadiusbymember georadius copy sort'],
  ['RW access delete', 'OW insert', 'renamenx'],
  ['RW access delete', 'OW update', 'rename'],
  ['RW update', READ, 'sinterstore'],
  ['RW access insert', READ, 'pfmerge']
]

const BY_NAME = new Map<string, readonly [string, string]>()
for (const [access, names] of ACCESSES) {
  for (const name of names.split(' ')) BY_NAME.set(name, [access, access])
}
for (const [first, others, names] of PAIRS) {
  for (const name of names.split(' ')) BY_NAME.set(name, [first, others])
}

/** Of a key of these arguments, the `order`-th of them. */
export function accessOf(spec: CommandSpec, args: readonly string[], order: number): string[] {
  const { name } = spec
  const options = args.slice(2).map((text) => text.toLowerCase())
  if (name === 'set' && options.slice(1).includes('get')) return words('RW access update')
  if (name === 'bitfield' && !options.includes('set') && !options.includes('incrby')) {
    return words(READ)
  }
  const [first, others] = BY_NAME.get(name) ?? [READ, READ]
  return words(order === 0 ? first : others)
}

function words(text: string): string[] {
  return text.split(' ')
}
