/**
 * What programs do with a Redis client, told so that any of them can do it: a story gets a way to send commands and
 * to listen, and gives what it saw. The same story with the same client must see the same at a real Redis and here.
 */
export interface Speaker {
  /** Sends one command; the keys of one that has several share a hash tag. */
  readonly call: (...args: (string | number)[]) => Promise<unknown>
  readonly multi: (commands: (string | number)[][]) => Promise<unknown>
  readonly pipeline: (commands: (string | number)[][]) => Promise<unknown>
}

/** Client libraries give maps, sets and errors in their own shapes. */
export function plain(value: unknown): unknown {
  if (value instanceof Error) return `error: ${value.message}`
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  if (value instanceof Map) return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]))
  if (value instanceof Set) return [...value].map(plain).sort()
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]))
  }
  return value
}

async function settle(promise: Promise<unknown>): Promise<unknown> {
  return plain(await promise.catch((error: unknown) => error))
}

const COMMANDS: readonly (string | number)[][] = [
  ['SET', 'a', '1'],
  ['GET', 'a'],
  ['GET', 'none'],
  ['INCRBY', 'a', 41],
  ['INCRBYFLOAT', 'f', '1.5'],
  ['APPEND', 'a', 'x'],
  ['INCR', 'a'],
  ['SET', 'a', '2', 'NX'],
  ['SET', 'a', '2', 'XX', 'GET'],
  ['SET', 'e', '1', 'EX', 100],
  ['TTL', 'e'],
  ['PERSIST', 'e'],
  ['TTL', 'e'],
  ['MSET', '{m}1', 'x', '{m}2', 'y'],
  ['MGET', '{m}1', '{m}2', '{m}3'],
  ['DEL', '{m}1', '{m}2', '{m}3'],
  ['HSET', 'h', 'one', '1', 'two', '2'],
  ['HGET', 'h', 'one'],
  ['HGETALL', 'h'],
  ['HMGET', 'h', 'one', 'three'],
  ['HINCRBY', 'h', 'one', 5],
  ['RPUSH', 'l', 'a', 'b', 'c'],
  ['LRANGE', 'l', 0, -1],
  ['LPOP', 'l', 2],
  ['LLEN', 'l'],
  ['SADD', 's', 'x'],
  ['SMEMBERS', 's'],
  ['SISMEMBER', 's', 'y'],
  ['ZADD', 'z', 1, 'a', 2.5, 'b'],
  ['ZRANGE', 'z', 0, -1, 'WITHSCORES'],
  ['ZSCORE', 'z', 'b'],
  ['ZINCRBY', 'z', 1, 'a'],
  ['ZPOPMIN', 'z'],
  ['TYPE', 'z'],
  ['EXISTS', 'z'],
  ['LPUSH', 'a', 'wrong'],
  ['NOSUCHCOMMAND', 'a'],
  ['GET'],
  ['BLPOP', 'l', 0.01],
  ['BLPOP', 'nothing', 0.01],
  ['BZPOPMAX', 'z', 0.01],
  ['PUBLISH', 'nobody', 'x'],
  ['OBJECT', 'ENCODING', 'a'],
  ['SETRANGE', 'a', 1, 'yy'],
  ['GETEX', 'a', 'PX', 100000],
  ['UNLINK', 'a']
]

export async function everyday({ call, multi, pipeline }: Speaker): Promise<unknown[]> {
  const seen: unknown[] = []
  for (const command of COMMANDS) seen.push([command.join(' '), await settle(call(...command))])
  const transaction = [
    ['SET', '{t}1', 'x'],
    ['INCR', '{t}2'],
    ['LPUSH', '{t}1', 'wrong'],
    ['MGET', '{t}1', '{t}2']
  ]
  seen.push(['multi', await settle(multi(transaction.slice(0, 2)))])
  seen.push(['multi of one slot', await settle(multi(transaction.slice(1, 2)))])
  seen.push([
    'pipeline',
    await settle(
      pipeline([
        ['SET', '{p}1', 'x'],
        ['GET', '{p}1'],
        ['INCR', '{p}2']
      ])
    )
  ])
  return seen
}

/** Resolves with the messages once there are so many. */
export class Ear {
  readonly heard: unknown[] = []
  #wanted = Infinity
  #resolve: (() => void) | undefined

  take = (...words: unknown[]): void => {
    this.heard.push(words.map(plain))
    if (this.heard.length >= this.#wanted) this.#resolve?.()
  }

  async until(count: number): Promise<unknown[]> {
    if (this.heard.length < count) {
      this.#wanted = count
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`heard only ${JSON.stringify(this.heard)}`)),
          10_000
        )
        this.#resolve = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.heard
  }
}
