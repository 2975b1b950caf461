/**
 * What COMMAND says of each command: how many arguments it takes, what it does, and where its keys are, as Redis has
 * it. Clients route by this table, so it names what is there and nothing else (commands.test.ts holds it to that).
 */

export interface CommandSpec {
  readonly name: string
  readonly arity: number
  readonly flags: readonly string[]
  /** Places of the first and last key, and from key to key; a last place below 0 counts from the end. */
  readonly first: number
  readonly last: number
  readonly step: number
  readonly categories: readonly string[]
}

type Line = readonly [string, number, string, number, number, number, string]

const LINES: readonly Line[] = [
  ['append', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['asking', 1, 'fast', 0, 0, 0, 'fast connection'],
  ['auth', -2, 'noscript loading stale fast no_auth allow_busy', 0, 0, 0, 'fast connection'],
  ['client', -2, '', 0, 0, 0, 'slow'],
  ['cluster', -2, '', 0, 0, 0, 'slow'],
  ['command', -1, 'loading stale', 0, 0, 0, 'slow connection'],
  ['config', -2, '', 0, 0, 0, 'slow'],
  ['copy', -3, 'write denyoom', 1, 2, 1, 'keyspace write slow'],
  ['dbsize', 1, 'readonly fast', 0, 0, 0, 'keyspace read fast'],
  ['debug', -2, 'admin noscript loading stale', 0, 0, 0, 'admin slow dangerous'],
  ['decr', 2, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['decrby', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['del', -2, 'write', 1, -1, 1, 'keyspace write slow'],
  ['discard', 1, 'noscript loading stale fast allow_busy', 0, 0, 0, 'fast transaction'],
  ['echo', 2, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['exec', 1, 'noscript loading stale skip_slowlog', 0, 0, 0, 'slow transaction'],
  ['exists', -2, 'readonly fast', 1, -1, 1, 'keyspace read fast'],
  ['expire', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['expireat', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['expiretime', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['flushall', -1, 'write', 0, 0, 0, 'keyspace write slow dangerous'],
  ['flushdb', -1, 'write', 0, 0, 0, 'keyspace write slow dangerous'],
  ['get', 2, 'readonly fast', 1, 1, 1, 'read string fast'],
  ['getdel', 2, 'write fast', 1, 1, 1, 'write string fast'],
  ['getex', -2, 'write fast', 1, 1, 1, 'write string fast'],
  ['getrange', 4, 'readonly', 1, 1, 1, 'read string slow'],
  ['getset', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['hdel', -3, 'write fast', 1, 1, 1, 'write hash fast'],
  ['hello', -1, 'noscript loading stale fast no_auth allow_busy', 0, 0, 0, 'fast connection'],
  ['hexists', 3, 'readonly fast', 1, 1, 1, 'read hash fast'],
  ['hget', 3, 'readonly fast', 1, 1, 1, 'read hash fast'],
  ['hgetall', 2, 'readonly', 1, 1, 1, 'read hash slow'],
  ['hincrby', 4, 'write denyoom fast', 1, 1, 1, 'write hash fast'],
  ['hincrbyfloat', 4, 'write denyoom fast', 1, 1, 1, 'write hash fast'],
  ['hkeys', 2, 'readonly', 1, 1, 1, 'read hash slow'],
  ['hlen', 2, 'readonly fast', 1, 1, 1, 'read hash fast'],
  ['hmget', -3, 'readonly fast', 1, 1, 1, 'read hash fast'],
  ['hmset', -4, 'write denyoom fast', 1, 1, 1, 'write hash fast'],
  ['hrandfield', -2, 'readonly', 1, 1, 1, 'read hash slow'],
  ['hscan', -3, 'readonly', 1, 1, 1, 'read hash slow'],
  ['hset', -4, 'write denyoom fast', 1, 1, 1, 'write hash fast'],
  ['hsetnx', 4, 'write denyoom fast', 1, 1, 1, 'write hash fast'],
  ['hstrlen', 3, 'readonly fast', 1, 1, 1, 'read hash fast'],
  ['hvals', 2, 'readonly', 1, 1, 1, 'read hash slow'],
  ['incr', 2, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['incrby', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['incrbyfloat', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['info', -1, 'loading stale', 0, 0, 0, 'slow dangerous'],
  ['keys', 2, 'readonly', 0, 0, 0, 'keyspace read slow dangerous'],
  ['lastsave', 1, 'loading stale fast', 0, 0, 0, 'admin fast dangerous'],
  ['lindex', 3, 'readonly', 1, 1, 1, 'read list slow'],
  ['linsert', 5, 'write denyoom', 1, 1, 1, 'write list slow'],
  ['llen', 2, 'readonly fast', 1, 1, 1, 'read list fast'],
  ['lmove', 5, 'write denyoom', 1, 2, 1, 'write list slow'],
  ['lmpop', -4, 'write movablekeys', 0, 0, 0, 'write list slow'],
  ['lpop', -2, 'write fast', 1, 1, 1, 'write list fast'],
  ['lpos', -3, 'readonly', 1, 1, 1, 'read list slow'],
  ['lpush', -3, 'write denyoom fast', 1, 1, 1, 'write list fast'],
  ['lpushx', -3, 'write denyoom fast', 1, 1, 1, 'write list fast'],
  ['lrange', 4, 'readonly', 1, 1, 1, 'read list slow'],
  ['lrem', 4, 'write', 1, 1, 1, 'write list slow'],
  ['lset', 4, 'write denyoom', 1, 1, 1, 'write list slow'],
  ['ltrim', 4, 'write', 1, 1, 1, 'write list slow'],
  ['memory', -2, '', 0, 0, 0, 'slow'],
  ['mget', -2, 'readonly fast', 1, -1, 1, 'read string fast'],
  ['mset', -3, 'write denyoom', 1, -1, 2, 'write string slow'],
  ['msetnx', -3, 'write denyoom', 1, -1, 2, 'write string slow'],
  ['multi', 1, 'noscript loading stale fast allow_busy', 0, 0, 0, 'fast transaction'],
  ['object', -2, '', 0, 0, 0, 'slow'],
  ['persist', 2, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['pexpire', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['pexpireat', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['pexpiretime', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['ping', -1, 'fast', 0, 0, 0, 'fast connection'],
  ['psetex', 4, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['pttl', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['quit', -1, 'noscript loading stale fast no_auth allow_busy', 0, 0, 0, 'fast connection'],
  ['randomkey', 1, 'readonly', 0, 0, 0, 'keyspace read slow'],
  ['readonly', 1, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['readwrite', 1, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['rename', 3, 'write', 1, 2, 1, 'keyspace write slow'],
  ['renamenx', 3, 'write fast', 1, 2, 1, 'keyspace write fast'],
  ['reset', 1, 'noscript loading stale fast no_auth allow_busy', 0, 0, 0, 'fast connection'],
  ['rpop', -2, 'write fast', 1, 1, 1, 'write list fast'],
  ['rpoplpush', 3, 'write denyoom', 1, 2, 1, 'write list slow'],
  ['rpush', -3, 'write denyoom fast', 1, 1, 1, 'write list fast'],
  ['rpushx', -3, 'write denyoom fast', 1, 1, 1, 'write list fast'],
  ['sadd', -3, 'write denyoom fast', 1, 1, 1, 'write set fast'],
  ['scan', -2, 'readonly', 0, 0, 0, 'keyspace read slow'],
  ['scard', 2, 'readonly fast', 1, 1, 1, 'read set fast'],
  ['sdiff', -2, 'readonly', 1, -1, 1, 'read set slow'],
  ['sdiffstore', -3, 'write denyoom', 1, -1, 1, 'write set slow'],
  ['select', 2, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['set', -3, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['setex', 4, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['setnx', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['setrange', 4, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['sinter', -2, 'readonly', 1, -1, 1, 'read set slow'],
  ['sintercard', -3, 'readonly movablekeys', 0, 0, 0, 'read set slow'],
  ['sinterstore', -3, 'write denyoom', 1, -1, 1, 'write set slow'],
  ['sismember', 3, 'readonly fast', 1, 1, 1, 'read set fast'],
  ['smembers', 2, 'readonly', 1, 1, 1, 'read set slow'],
  ['smismember', -3, 'readonly fast', 1, 1, 1, 'read set fast'],
  ['smove', 4, 'write fast', 1, 2, 1, 'write set fast'],
  ['spop', -2, 'write fast', 1, 1, 1, 'write set fast'],
  ['srandmember', -2, 'readonly', 1, 1, 1, 'read set slow'],
  ['srem', -3, 'write fast', 1, 1, 1, 'write set fast'],
  ['sscan', -3, 'readonly', 1, 1, 1, 'read set slow'],
  ['strlen', 2, 'readonly fast', 1, 1, 1, 'read string fast'],
  ['substr', 4, 'readonly', 1, 1, 1, 'read string slow'],
  ['sunion', -2, 'readonly', 1, -1, 1, 'read set slow'],
  ['sunionstore', -3, 'write denyoom', 1, -1, 1, 'write set slow'],
  ['time', 1, 'loading stale fast', 0, 0, 0, 'fast'],
  ['touch', -2, 'readonly fast', 1, -1, 1, 'keyspace read fast'],
  ['ttl', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['type', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['unlink', -2, 'write fast', 1, -1, 1, 'keyspace write fast'],
  ['unwatch', 1, 'noscript loading stale fast allow_busy', 0, 0, 0, 'fast transaction'],
  ['wait', 3, 'noscript', 0, 0, 0, 'slow connection'],
  ['watch', -2, 'noscript loading stale fast allow_busy', 1, -1, 1, 'fast transaction'],
  ['zadd', -4, 'write denyoom fast', 1, 1, 1, 'write sortedset fast'],
  ['zcard', 2, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zcount', 4, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zdiff', -3, 'readonly movablekeys', 0, 0, 0, 'read sortedset slow'],
  ['zdiffstore', -4, 'write denyoom movablekeys', 1, 1, 1, 'write sortedset slow'],
  ['zincrby', 4, 'write denyoom fast', 1, 1, 1, 'write sortedset fast'],
  ['zinter', -3, 'readonly movablekeys', 0, 0, 0, 'read sortedset slow'],
  ['zintercard', -3, 'readonly movablekeys', 0, 0, 0, 'read sortedset slow'],
  ['zinterstore', -4, 'write denyoom movablekeys', 1, 1, 1, 'write sortedset slow'],
  ['zlexcount', 4, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zmpop', -4, 'write movablekeys', 0, 0, 0, 'write sortedset slow'],
  ['zmscore', -3, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zpopmax', -2, 'write fast', 1, 1, 1, 'write sortedset fast'],
  ['zpopmin', -2, 'write fast', 1, 1, 1, 'write sortedset fast'],
  ['zrandmember', -2, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrange', -4, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrangebylex', -4, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrangebyscore', -4, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrangestore', -5, 'write denyoom', 1, 2, 1, 'write sortedset slow'],
  ['zrank', -3, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zrem', -3, 'write fast', 1, 1, 1, 'write sortedset fast'],
  ['zremrangebylex', 4, 'write', 1, 1, 1, 'write sortedset slow'],
  ['zremrangebyrank', 4, 'write', 1, 1, 1, 'write sortedset slow'],
  ['zremrangebyscore', 4, 'write', 1, 1, 1, 'write sortedset slow'],
  ['zrevrange', -4, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrevrangebylex', -4, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrevrangebyscore', -4, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zrevrank', -3, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zscan', -3, 'readonly', 1, 1, 1, 'read sortedset slow'],
  ['zscore', 3, 'readonly fast', 1, 1, 1, 'read sortedset fast'],
  ['zunion', -3, 'readonly movablekeys', 0, 0, 0, 'read sortedset slow'],
  ['zunionstore', -4, 'write denyoom movablekeys', 1, 1, 1, 'write sortedset slow']
]

const words = (text: string): string[] => (text === '' ? [] : text.split(' '))

export const COMMAND_SPECS: readonly CommandSpec[] = LINES.map(
  ([name, arity, flags, first, last, step, categories]) => ({
    name,
    arity,
    flags: words(flags),
    first,
    last,
    step,
    categories: words(categories).map((word) => `@${word}`)
  })
)

const BY_NAME = new Map(COMMAND_SPECS.map((spec) => [spec.name, spec]))

export function findSpec(name: string): CommandSpec | undefined {
  return BY_NAME.get(name.toLowerCase())
}

/** Commands that say how many keys follow, and the place where they say it. */
const COUNTED = new Map([
  ['zunionstore', 2],
  ['zinterstore', 2],
  ['zdiffstore', 2],
  ['zunion', 1],
  ['zinter', 1],
  ['zdiff', 1],
  ['zintercard', 1],
  ['sintercard', 1],
  ['lmpop', 1],
  ['zmpop', 1],
  ['blmpop', 2],
  ['bzmpop', 2]
])

/** Containers whose parts have their key behind the part's name. */
const SECOND = new Set(['object', 'memory'])

/** The places of the keys in these arguments, the name included; none where they make no sense. */
export function keyPlaces(spec: CommandSpec, args: readonly string[]): number[] {
  const places: number[] = []
  if (spec.first > 0) {
    const last = spec.last < 0 ? args.length + spec.last : spec.last
    for (let place = spec.first; place <= last; place += spec.step) places.push(place)
  }
  if (SECOND.has(spec.name) && args.length > 2) places.push(2)
  const counter = COUNTED.get(spec.name)
  if (counter === undefined) return places
  const count = Number(args[counter])
  if (!Number.isInteger(count) || count < 1 || counter + count >= args.length) return []
  for (let i = 1; i <= count; i++) places.push(counter + i)
  return places
}
