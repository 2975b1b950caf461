/**
 * What a client must know of a command: where its key is, and what may be done when nobody answers. A command that only
 * reads can always be sent again. One that may be `repeated` leaves the same data behind however often it runs, but it
 * can overwrite what somebody else wrote in between, so that it is sent again only if the caller has said so. All others
 * are sent again only if it is certain that no node has seen them.
 */
export type Retry = 'always' | 'repeat' | 'never'

export interface CommandKind {
  /** The place of the key among the arguments, or -1 if any node will do. */
  readonly key: number
  readonly retry: Retry
}

const READ: CommandKind = { key: 1, retry: 'always' }
const REPEATABLE: CommandKind = { key: 1, retry: 'repeat' }
const WRITE: CommandKind = { key: 1, retry: 'never' }
export const ANYWHERE: CommandKind = { key: -1, retry: 'always' }
const ANYWHERE_ONCE: CommandKind = { key: -1, retry: 'never' }
const SCRIPT: CommandKind = { key: 3, retry: 'never' }

const KINDS = new Map<string, CommandKind>()
enter(READ, 'GET MGET EXISTS TYPE TTL PTTL EXPIRETIME PEXPIRETIME STRLEN GETRANGE SUBSTR TOUCH')
enter(READ, 'HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS HSTRLEN HSCAN HRANDFIELD')
enter(READ, 'LRANGE LLEN LINDEX LPOS')
enter(READ, 'SMEMBERS SISMEMBER SMISMEMBER SCARD SSCAN SRANDMEMBER')
enter(READ, 'ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX')
enter(READ, 'ZCOUNT ZLEXCOUNT ZCARD ZSCORE ZMSCORE ZRANK ZREVRANK ZSCAN ZRANDMEMBER')
enter(REPEATABLE, 'MSET SETEX PSETEX DEL UNLINK PERSIST EXPIREAT PEXPIREAT')
enter(REPEATABLE, 'HSET HMSET HDEL SADD SREM ZREM LSET')
enter(ANYWHERE, 'PING ECHO TIME INFO DBSIZE SCAN KEYS RANDOMKEY COMMAND CLUSTER')
enter(ANYWHERE_ONCE, 'HELLO CLIENT CONFIG FLUSHALL FLUSHDB PUBLISH SCRIPT FUNCTION')
enter(SCRIPT, 'EVAL EVALSHA FCALL')

function enter(kind: CommandKind, names: string): void {
  for (const name of names.split(' ')) KINDS.set(name, kind)
}

/** By the name in capitals. A command nobody has told of is a write with its key first. */
export function kindOf(name: string): CommandKind {
  return KINDS.get(name) ?? WRITE
}

/** SET is repeatable by itself, but not under a condition or when it gives the old value. */
export function kindOfSet(conditional: boolean): CommandKind {
  return conditional ? WRITE : REPEATABLE
}
