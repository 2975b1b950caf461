/** Hashes, lists, sets and sorted sets. A collection is one key, and so on one node. */
import type { Argument } from './argument.js'
import { kindOf } from './command-kind.js'
import {
  asBoolean,
  asNothing,
  asNumber,
  asNumberOrNull,
  asScored,
  asTextMap,
  asTextOrNull,
  asTexts,
  asTextSet,
  asTextsOrNulls,
  type ScoredMember
} from './reply.js'
import { StringCommands } from './string-commands.js'

/** Which part of a sorted set is wanted. */
export interface RangeOptions {
  /** From the highest score down. */
  readonly reverse?: boolean
}

type Fields = Readonly<Record<string, Argument>> | ReadonlyMap<string, Argument>

export abstract class CollectionCommands extends StringCommands {
  /** How many of the fields are new. */
  hset(key: string, fields: Fields): Promise<number> {
    const pairs = fields instanceof Map ? [...fields] : Object.entries(fields)
    return this.run(['HSET', key, ...(pairs.flat() as Argument[])], kindOf('HSET'), asNumber)
  }

  /** False if the field is there already. */
  hsetnx(key: string, field: string, value: Argument): Promise<boolean> {
    return this.run(['HSETNX', key, field, value], kindOf('HSETNX'), asBoolean)
  }

  hget(key: string, field: string): Promise<string | null> {
    return this.run(['HGET', key, field], kindOf('HGET'), asTextOrNull)
  }

  hmget(key: string, ...fields: string[]): Promise<(string | null)[]> {
    return this.run(['HMGET', key, ...fields], kindOf('HMGET'), asTextsOrNulls)
  }

  hgetall(key: string): Promise<Map<string, string>> {
    return this.run(['HGETALL', key], kindOf('HGETALL'), asTextMap)
  }

  hdel(key: string, ...fields: string[]): Promise<number> {
    return this.run(['HDEL', key, ...fields], kindOf('HDEL'), asNumber)
  }

  hexists(key: string, field: string): Promise<boolean> {
    return this.run(['HEXISTS', key, field], kindOf('HEXISTS'), asBoolean)
  }

  hkeys(key: string): Promise<string[]> {
    return this.run(['HKEYS', key], kindOf('HKEYS'), asTexts)
  }

  hlen(key: string): Promise<number> {
    return this.run(['HLEN', key], kindOf('HLEN'), asNumber)
  }

  hincrBy(key: string, field: string, by: number): Promise<number> {
    return this.run(['HINCRBY', key, field, by], kindOf('HINCRBY'), asNumber)
  }

  /** The length afterwards. */
  lpush(key: string, ...values: Argument[]): Promise<number> {
    return this.run(['LPUSH', key, ...values], kindOf('LPUSH'), asNumber)
  }

  rpush(key: string, ...values: Argument[]): Promise<number> {
    return this.run(['RPUSH', key, ...values], kindOf('RPUSH'), asNumber)
  }

  lpop(key: string): Promise<string | null> {
    return this.run(['LPOP', key], kindOf('LPOP'), asTextOrNull)
  }

  rpop(key: string): Promise<string | null> {
    return this.run(['RPOP', key], kindOf('RPOP'), asTextOrNull)
  }

  /** Both ends included; negative places count from the end. */
  lrange(key: string, start = 0, stop = -1): Promise<string[]> {
    return this.run(['LRANGE', key, start, stop], kindOf('LRANGE'), asTexts)
  }

  lindex(key: string, place: number): Promise<string | null> {
    return this.run(['LINDEX', key, place], kindOf('LINDEX'), asTextOrNull)
  }

  async lset(key: string, place: number, value: Argument): Promise<void> {
    await this.run(['LSET', key, place, value], kindOf('LSET'), asNothing)
  }

  lrem(key: string, count: number, value: Argument): Promise<number> {
    return this.run(['LREM', key, count, value], kindOf('LREM'), asNumber)
  }

  async ltrim(key: string, start: number, stop: number): Promise<void> {
    await this.run(['LTRIM', key, start, stop], kindOf('LTRIM'), asNothing)
  }

  llen(key: string): Promise<number> {
    return this.run(['LLEN', key], kindOf('LLEN'), asNumber)
  }

  /** How many of them are new. */
  sadd(key: string, ...members: Argument[]): Promise<number> {
    return this.run(['SADD', key, ...members], kindOf('SADD'), asNumber)
  }

  srem(key: string, ...members: Argument[]): Promise<number> {
    return this.run(['SREM', key, ...members], kindOf('SREM'), asNumber)
  }

  smembers(key: string): Promise<Set<string>> {
    return this.run(['SMEMBERS', key], kindOf('SMEMBERS'), asTextSet)
  }

  sismember(key: string, member: Argument): Promise<boolean> {
    return this.run(['SISMEMBER', key, member], kindOf('SISMEMBER'), asBoolean)
  }

  scard(key: string): Promise<number> {
    return this.run(['SCARD', key], kindOf('SCARD'), asNumber)
  }

  spop(key: string): Promise<string | null> {
    return this.run(['SPOP', key], kindOf('SPOP'), asTextOrNull)
  }

  /** How many of them are new. */
  zadd(key: string, ...entries: ScoredMember[]): Promise<number> {
    const pairs = entries.flatMap(({ member, score }) => [scoreText(score), member])
    return this.run(['ZADD', key, ...pairs], kindOf('ZADD'), asNumber)
  }

  zrem(key: string, ...members: string[]): Promise<number> {
    return this.run(['ZREM', key, ...members], kindOf('ZREM'), asNumber)
  }

  zscore(key: string, member: string): Promise<number | null> {
    return this.run(['ZSCORE', key, member], kindOf('ZSCORE'), asNumberOrNull)
  }

  zrank(key: string, member: string): Promise<number | null> {
    return this.run(['ZRANK', key, member], kindOf('ZRANK'), asNumberOrNull)
  }

  zincrBy(key: string, by: number, member: string): Promise<number> {
    return this.run(['ZINCRBY', key, scoreText(by), member], kindOf('ZINCRBY'), asNumber)
  }

  zcard(key: string): Promise<number> {
    return this.run(['ZCARD', key], kindOf('ZCARD'), asNumber)
  }

  /** By rank, both ends included; negative ranks count from the end. */
  zrange(key: string, start = 0, stop = -1, options: RangeOptions = {}): Promise<string[]> {
    const rest = options.reverse === true ? ['REV'] : []
    return this.run(['ZRANGE', key, start, stop, ...rest], kindOf('ZRANGE'), asTexts)
  }

  zrangeWithScores(
    key: string,
    start = 0,
    stop = -1,
    options: RangeOptions = {}
  ): Promise<ScoredMember[]> {
    const rest = options.reverse === true ? ['REV', 'WITHSCORES'] : ['WITHSCORES']
    return this.run(['ZRANGE', key, start, stop, ...rest], kindOf('ZRANGE'), asScored)
  }

  /** The members with the lowest scores, which are members no more. */
  zpopmin(key: string, count = 1): Promise<ScoredMember[]> {
    return this.run(['ZPOPMIN', key, count], kindOf('ZPOPMIN'), asScored)
  }
}

function scoreText(score: number): string {
  return score === Infinity ? '+inf' : score === -Infinity ? '-inf' : String(score)
}
