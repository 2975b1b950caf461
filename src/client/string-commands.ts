/** Values of one key: texts, numbers, bytes and JSON. */
import { OpenClusterError } from '../errors.js'
import type { Argument } from './argument.js'
import { kindOf, kindOfSet } from './command-kind.js'
import { KeyCommands, wholeMs } from './key-commands.js'
import {
  asBytesOrNull,
  asBytesOrNulls,
  asJson,
  asNothing,
  asNumber,
  asNumberOrNull,
  asTextOrNull,
  asTextsOrNulls,
  asWritten
} from './reply.js'

/** When a value goes by itself. */
export interface ExpiryOptions {
  /** Milliseconds from now. */
  readonly ttlMs?: number
  /** Leaves the key's present expiry; without either it has none afterwards. */
  readonly keepTtl?: boolean
}

/** How a value is written. */
export interface SetOptions extends ExpiryOptions {
  /** Only if there is no such key. */
  readonly nx?: boolean
  /** Only if there is such a key. */
  readonly xx?: boolean
}

const GET = kindOf('GET')
const SET = kindOfSet(false)
const SET_IF = kindOfSet(true)
const MGET = kindOf('MGET')
const MSET = kindOf('MSET')
const INCRBY = kindOf('INCRBY')
const INCRBYFLOAT = kindOf('INCRBYFLOAT')
const APPEND = kindOf('APPEND')
const STRLEN = kindOf('STRLEN')
const GETDEL = kindOf('GETDEL')

export abstract class StringCommands extends KeyCommands {
  get(key: string): Promise<string | null> {
    return this.run(['GET', key], GET, asTextOrNull)
  }

  getBuffer(key: string): Promise<Buffer | null> {
    return this.run(['GET', key], GET, asBytesOrNull)
  }

  getNumber(key: string): Promise<number | null> {
    return this.run(['GET', key], GET, asNumberOrNull)
  }

  /** What `setJson` stored. That it is a `T` is the caller's word, not checked. */
  getJson<T = unknown>(key: string): Promise<T | null> {
    return this.run(['GET', key], GET, asJson) as Promise<T | null>
  }

  getAndDelete(key: string): Promise<string | null> {
    return this.run(['GETDEL', key], GETDEL, asTextOrNull)
  }

  /** False if `nx` or `xx` did not hold. */
  set(key: string, value: Argument, options?: SetOptions): Promise<boolean> {
    if (options === undefined) return this.run(['SET', key, value], SET, asWritten)
    const args: Argument[] = ['SET', key, value]
    if (options.nx === true) args.push('NX')
    if (options.xx === true) args.push('XX')
    addExpiry(args, options)
    const conditional = options.nx === true || options.xx === true
    return this.run(args, conditional ? SET_IF : SET, asWritten)
  }

  setJson(key: string, value: unknown, options?: SetOptions): Promise<boolean> {
    return this.set(key, toJson(value), options)
  }

  /**
   * Writes only if the key holds exactly `expected`, null for nothing. True if it did.
   */
  compareAndSet(
    key: string,
    expected: Argument | null,
    value: Argument,
    options: ExpiryOptions = {}
  ): Promise<boolean> {
    const args: Argument[] = ['SET', key, value]
    if (expected === null) args.push('NX')
    else args.push('IFEQ', expected)
    addExpiry(args, options)
    return this.run(args, SET_IF, asWritten)
  }

  /** Deletes only if the key holds exactly `expected`. True if it did. */
  compareAndDelete(key: string, expected: Argument): Promise<boolean> {
    // A time that has passed makes a deletion of the write.
    return this.run(['SET', key, '', 'IFEQ', expected, 'PXAT', 1], SET_IF, asWritten)
  }

  /** Null where there is none; one round trip a node. */
  mget(...keys: string[]): Promise<(string | null)[]> {
    return this.#gather(keys, asTextsOrNulls)
  }

  mgetBuffer(...keys: string[]): Promise<(Buffer | null)[]> {
    return this.#gather(keys, asBytesOrNulls)
  }

  /** One round trip a node. Each key is written for itself: others may see some of them before the rest. */
  async mset(
    entries: Readonly<Record<string, Argument>> | Iterable<readonly [string, Argument]>
  ): Promise<void> {
    const pairs = isIterable(entries) ? [...entries] : Object.entries(entries)
    const groups = this.groupKeys(pairs.map(([key]) => key))
    await Promise.all(
      groups.map((places) =>
        this.run(['MSET', ...places.flatMap((place) => pairs[place])], MSET, asNothing)
      )
    )
  }

  incr(key: string): Promise<number> {
    return this.incrBy(key, 1)
  }

  decr(key: string): Promise<number> {
    return this.incrBy(key, -1)
  }

  incrBy(key: string, by: number): Promise<number> {
    return this.run(['INCRBY', key, by], INCRBY, asNumber)
  }

  incrByFloat(key: string, by: number): Promise<number> {
    return this.run(['INCRBYFLOAT', key, by], INCRBYFLOAT, asNumber)
  }

  /** The length afterwards. */
  append(key: string, value: Argument): Promise<number> {
    return this.run(['APPEND', key, value], APPEND, asNumber)
  }

  strlen(key: string): Promise<number> {
    return this.run(['STRLEN', key], STRLEN, asNumber)
  }

  async #gather<T>(
    keys: readonly string[],
    decode: (reply: Parameters<typeof asTextsOrNulls>[0]) => (T | null)[]
  ): Promise<(T | null)[]> {
    const values = new Array<T | null>(keys.length).fill(null)
    const groups = this.groupKeys(keys)
    const found = await Promise.all(
      groups.map((places) =>
        this.run(['MGET', ...places.map((place) => keys[place])], MGET, decode)
      )
    )
    groups.forEach((places, group) => {
      places.forEach((place, i) => (values[place] = found[group][i] ?? null))
    })
    return values
  }
}

function addExpiry(args: Argument[], { ttlMs, keepTtl }: ExpiryOptions): void {
  if (ttlMs !== undefined) args.push('PX', wholeMs(ttlMs))
  if (keepTtl === true) args.push('KEEPTTL')
}

export function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) {
    throw new OpenClusterError('OC_BAD_VALUE', `${typeof value} has no form in JSON`)
  }
  return text
}

function isIterable<T>(value: object): value is Iterable<T> {
  return Symbol.iterator in value
}
