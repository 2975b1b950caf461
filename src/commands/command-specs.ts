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
  ['bgrewriteaof', 1, 'admin noscript no_async_loading', 0, 0, 0, 'admin slow dangerous'],
  ['bgsave', -1, 'admin noscript no_async_loading', 0, 0, 0, 'admin slow dangerous'],
  ['bitcount', -2, 'readonly', 1, 1, 1, 'read bitmap slow'],
  ['bitfield', -2, 'write denyoom', 1, 1, 1, 'write bitmap slow'],
  ['bitfield_ro', -2, 'readonly fast', 1, 1, 1, 'read bitmap fast'],
  ['bitop', -4, 'write denyoom', 2, -1, 1, 'write bitmap slow'],
  ['bitpos', -3, 'readonly', 1, 1, 1, 'read bitmap slow'],
  ['blmove', 6, 'write denyoom noscript blocking', 1, 2, 1, 'write list slow blocking'],
  ['blmpop', -5, 'write blocking movablekeys', 0, 0, 0, 'write list slow blocking'],
  ['blpop', -3, 'write noscript blocking', 1, -2, 1, 'write list slow blocking'],
  ['brpop', -3, 'write noscript blocking', 1, -2, 1, 'write list slow blocking'],
  ['brpoplpush', 4, 'write denyoom noscript blocking', 1, 2, 1, 'write list slow blocking'],
  ['bzmpop', -5, 'write blocking movablekeys', 0, 0, 0, 'write sortedset slow blocking'],
  ['bzpopmax', -3, 'write noscript blocking fast', 1, -2, 1, 'write sortedset fast blocking'],
  ['bzpopmin', -3, 'write noscript blocking fast', 1, -2, 1, 'write sortedset fast blocking'],
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
  ['dump', 2, 'readonly', 1, 1, 1, 'keyspace read slow'],
  ['echo', 2, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['exec', 1, 'noscript loading stale skip_slowlog', 0, 0, 0, 'slow transaction'],
  ['exists', -2, 'readonly fast', 1, -1, 1, 'keyspace read fast'],
  ['expire', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['expireat', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['expiretime', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['flushall', -1, 'write', 0, 0, 0, 'keyspace write slow dangerous'],
  ['flushdb', -1, 'write', 0, 0, 0, 'keyspace write slow dangerous'],
  ['function', -2, '', 0, 0, 0, 'slow'],
  ['geoadd', -5, 'write denyoom', 1, 1, 1, 'write geo slow'],
  ['geodist', -4, 'readonly', 1, 1, 1, 'read geo slow'],
  ['geohash', -2, 'readonly', 1, 1, 1, 'read geo slow'],
  ['geopos', -2, 'readonly', 1, 1, 1, 'read geo slow'],
  ['georadius', -6, 'write denyoom movablekeys', 1, 1, 1, 'write geo slow'],
  ['georadius_ro', -6, 'readonly', 1, 1, 1, 'read geo slow'],
  ['georadiusbymember', -5, 'write denyoom movablekeys', 1, 1, 1, 'write geo slow'],
  ['georadiusbymember_ro', -5, 'readonly', 1, 1, 1, 'read geo slow'],
  ['geosearch', -7, 'readonly', 1, 1, 1, 'read geo slow'],
  ['geosearchstore', -8, 'write denyoom', 1, 2, 1, 'write geo slow'],
  ['get', 2, 'readonly fast', 1, 1, 1, 'read string fast'],
  ['getbit', 3, 'readonly fast', 1, 1, 1, 'read bitmap fast'],
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
  ['latency', -2, '', 0, 0, 0, 'slow'],
  ['lcs', -3, 'readonly', 1, 2, 1, 'read string slow'],
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
  ['monitor', 1, 'admin noscript loading stale', 0, 0, 0, 'admin slow dangerous'],
  ['mset', -3, 'write denyoom', 1, -1, 2, 'write string slow'],
  ['msetnx', -3, 'write denyoom', 1, -1, 2, 'write string slow'],
  ['multi', 1, 'noscript loading stale fast allow_busy', 0, 0, 0, 'fast transaction'],
  ['object', -2, '', 0, 0, 0, 'slow'],
  ['persist', 2, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['pexpire', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['pexpireat', -3, 'write fast', 1, 1, 1, 'keyspace write fast'],
  ['pexpiretime', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['pfadd', -2, 'write denyoom fast', 1, 1, 1, 'write hyperloglog fast'],
  ['pfcount', -2, 'readonly', 1, -1, 1, 'read hyperloglog slow'],
  ['pfmerge', -2, 'write denyoom', 1, -1, 1, 'write hyperloglog slow'],
  ['ping', -1, 'fast', 0, 0, 0, 'fast connection'],
  ['psetex', 4, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['psubscribe', -2, 'pubsub noscript loading stale', 0, 0, 0, 'pubsub slow'],
  ['pttl', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['publish', 3, 'pubsub loading stale fast', 0, 0, 0, 'pubsub fast'],
  ['pubsub', -2, '', 0, 0, 0, 'slow'],
  ['punsubscribe', -1, 'pubsub noscript loading stale', 0, 0, 0, 'pubsub slow'],
  ['quit', -1, 'noscript loading stale fast no_auth allow_busy', 0, 0, 0, 'fast connection'],
  ['randomkey', 1, 'readonly', 0, 0, 0, 'keyspace read slow'],
  ['readonly', 1, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['readwrite', 1, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['rename', 3, 'write', 1, 2, 1, 'keyspace write slow'],
  ['renamenx', 3, 'write fast', 1, 2, 1, 'keyspace write fast'],
  ['reset', 1, 'noscript loading stale fast no_auth allow_busy', 0, 0, 0, 'fast connection'],
  ['restore', -4, 'write denyoom', 1, 1, 1, 'keyspace write slow dangerous'],
  ['restore-asking', -4, 'write denyoom asking', 1, 1, 1, 'keyspace write slow dangerous'],
  ['rpop', -2, 'write fast', 1, 1, 1, 'write list fast'],
  ['rpoplpush', 3, 'write denyoom', 1, 2, 1, 'write list slow'],
  ['rpush', -3, 'write denyoom fast', 1, 1, 1, 'write list fast'],
  ['rpushx', -3, 'write denyoom fast', 1, 1, 1, 'write list fast'],
  ['sadd', -3, 'write denyoom fast', 1, 1, 1, 'write set fast'],
  ['save', 1, 'admin noscript no_async_loading no_multi', 0, 0, 0, 'admin slow dangerous'],
  ['scan', -2, 'readonly', 0, 0, 0, 'keyspace read slow'],
  ['scard', 2, 'readonly fast', 1, 1, 1, 'read set fast'],
  ['sdiff', -2, 'readonly', 1, -1, 1, 'read set slow'],
  ['sdiffstore', -3, 'write denyoom', 1, -1, 1, 'write set slow'],
  ['select', 2, 'loading stale fast', 0, 0, 0, 'fast connection'],
  ['set', -3, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['setbit', 4, 'write denyoom', 1, 1, 1, 'write bitmap slow'],
  ['setex', 4, 'write denyoom', 1, 1, 1, 'write string slow'],
  ['setnx', 3, 'write denyoom fast', 1, 1, 1, 'write string fast'],
  ['setrange', 4, 'write denyoom', 1, 1, 1, 'write string slow'],
  [
    'shutdown',
    -1,
    'admin noscript loading stale no_multi allow_busy',
    0,
    0,
    0,
    'admin slow dangerous'
  ],
  ['sinter', -2, 'readonly', 1, -1, 1, 'read set slow'],
  ['sintercard', -3, 'readonly movablekeys', 0, 0, 0, 'read set slow'],
  ['sinterstore', -3, 'write denyoom', 1, -1, 1, 'write set slow'],
  ['sismember', 3, 'readonly fast', 1, 1, 1, 'read set fast'],
  ['slowlog', -2, '', 0, 0, 0, 'slow'],
  ['smembers', 2, 'readonly', 1, 1, 1, 'read set slow'],
  ['smismember', -3, 'readonly fast', 1, 1, 1, 'read set fast'],
  ['smove', 4, 'write fast', 1, 2, 1, 'write set fast'],
  ['sort', -2, 'write denyoom movablekeys', 1, 1, 1, 'write set sortedset list slow dangerous'],
  ['sort_ro', -2, 'readonly movablekeys', 1, 1, 1, 'read set sortedset list slow dangerous'],
  ['spop', -2, 'write fast', 1, 1, 1, 'write set fast'],
  ['spublish', 3, 'pubsub loading stale fast', 1, 1, 1, 'pubsub fast'],
  ['srandmember', -2, 'readonly', 1, 1, 1, 'read set slow'],
  ['srem', -3, 'write fast', 1, 1, 1, 'write set fast'],
  ['sscan', -3, 'readonly', 1, 1, 1, 'read set slow'],
  ['ssubscribe', -2, 'pubsub noscript loading stale', 1, -1, 1, 'pubsub slow'],
  ['strlen', 2, 'readonly fast', 1, 1, 1, 'read string fast'],
  ['subscribe', -2, 'pubsub noscript loading stale', 0, 0, 0, 'pubsub slow'],
  ['substr', 4, 'readonly', 1, 1, 1, 'read string slow'],
  ['sunion', -2, 'readonly', 1, -1, 1, 'read set slow'],
  ['sunionstore', -3, 'write denyoom', 1, -1, 1, 'write set slow'],
  ['sunsubscribe', -1, 'pubsub noscript loading stale', 1, -1, 1, 'pubsub slow'],
  ['time', 1, 'loading stale fast', 0, 0, 0, 'fast'],
  ['touch', -2, 'readonly fast', 1, -1, 1, 'keyspace read fast'],
  ['ttl', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['type', 2, 'readonly fast', 1, 1, 1, 'keyspace read fast'],
  ['unlink', -2, 'write fast', 1, -1, 1, 'keyspace write fast'],
  ['unsubscribe', -1, 'pubsub noscript loading stale', 0, 0, 0, 'pubsub slow'],
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

/** Commands whose last STORE names a key, with their options that have arguments, and how many. */
const STORING = new Map<string, Readonly<Record<string, number>>>([
  ['sort', { limit: 2, by: 1, get: 1 }],
  ['georadius', {}],
  ['georadiusbymember', {}]
])

function storePlace(args: readonly string[], skips: Readonly<Record<string, number>>): number {
  let found = 0
  for (let place = 2; place < args.length; place++) {
    const word = args[place].toLowerCase()
    if (/^store(?:dist)?$/.test(word) && place + 1 < args.length) found = ++place
    else if (Object.hasOwn(skips, word)) place += skips[word]
  }
  return found
}

/** The places of the keys in these arguments, the name included; none where they make no sense. */
export function keyPlaces(spec: CommandSpec, args: readonly string[]): number[] {
  const places: number[] = []
  if (spec.first > 0) {
    const last = spec.last < 0 ? args.length + spec.last : spec.last
    for (let place = spec.first; place <= last; place += spec.step) places.push(place)
  }
  if (SECOND.has(spec.name) && args.length > 2) places.push(2)
  const skips = STORING.get(spec.name)
  const store = skips === undefined ? 0 : storePlace(args, skips)
  if (store > 0) places.push(store)
  const counter = COUNTED.get(spec.name)
  if (counter === undefined) return places
  const count = Number(args[counter])
  if (!Number.isInteger(count) || count < 1 || counter + count >= args.length) return []
  for (let i = 1; i <= count; i++) places.push(counter + i)
  return places
}
