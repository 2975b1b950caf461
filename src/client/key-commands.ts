/** Commands on keys of any type, and the way every command of the client goes. */
import { OpenClusterError } from '../errors.js'
import type { ReplyValue } from '../wire/resp/reply-value.js'
import type { Argument } from './argument.js'
import type { Decode } from './call.js'
import { ANYWHERE, kindOf, type CommandKind } from './command-kind.js'
import type { Settings } from './options.js'
import {
  asBoolean,
  asItself,
  asList,
  asNumber,
  asText,
  asTextReply,
  type TextReply
} from './reply.js'
import type { Router } from './router.js'

/** Which keys are gone through. */
export interface ScanOptions {
  /** As in `watch`: `*` any text, `?` any character, `[abc]`. */
  readonly match?: string
  /** How much work a round trip may do; a hint. */
  readonly count?: number
}

const KIND = {
  del: kindOf('DEL'),
  exists: kindOf('EXISTS'),
  expire: kindOf('PEXPIRE'),
  expireAt: kindOf('PEXPIREAT'),
  persist: kindOf('PERSIST'),
  ttl: kindOf('PTTL'),
  type: kindOf('TYPE')
}

export abstract class KeyCommands {
  protected readonly router: Router
  protected readonly settings: Settings

  protected constructor(router: Router, settings: Settings) {
    this.router = router
    this.settings = settings
  }

  protected run<T>(args: readonly Argument[], kind: CommandKind, decode: Decode<T>): Promise<T> {
    return this.router.run(args, kind, decode, this.settings)
  }

  /** Any command, its reply with payloads as text. */
  command(name: string, ...args: Argument[]): Promise<TextReply> {
    return this.run([name, ...args], kindOf(name.toUpperCase()), asTextReply)
  }

  /** Any command, its reply with payloads as bytes. */
  commandBytes(name: string, ...args: Argument[]): Promise<ReplyValue> {
    return this.run([name, ...args], kindOf(name.toUpperCase()), asItself)
  }

  async ping(): Promise<void> {
    await this.run(['PING'], ANYWHERE, asText)
  }

  /** How many of them there were. Keys may be on several nodes; each is deleted for itself. */
  async del(...keys: string[]): Promise<number> {
    return this.#count('DEL', keys, KIND.del)
  }

  /** How many of them there are; a key that is named twice counts twice. */
  async exists(...keys: string[]): Promise<number> {
    return this.#count('EXISTS', keys, KIND.exists)
  }

  /** False if there is no such key. */
  expire(key: string, ttlMs: number): Promise<boolean> {
    return this.run(['PEXPIRE', key, wholeMs(ttlMs)], KIND.expire, asBoolean)
  }

  expireAt(key: string, time: Date | number): Promise<boolean> {
    return this.run(['PEXPIREAT', key, wholeMs(Number(time))], KIND.expireAt, asBoolean)
  }

  /** Takes the expiry away; false if there was none. */
  persist(key: string): Promise<boolean> {
    return this.run(['PERSIST', key], KIND.persist, asBoolean)
  }

  /** Milliseconds; Infinity for a key that does not expire, null if there is none. */
  ttl(key: string): Promise<number | null> {
    return this.run(['PTTL', key], KIND.ttl, asTtl)
  }

  type(key: string): Promise<string> {
    return this.run(['TYPE', key], KIND.type, asText)
  }

  /**
   * All keys of the cluster. Those that are there from beginning to end come at least once; those that move from node to node
   * meanwhile may come twice.
   */
  async *scan(options: ScanOptions = {}): AsyncGenerator<string, void, undefined> {
    const rest: Argument[] = []
    if (options.match !== undefined) rest.push('MATCH', options.match)
    if (options.count !== undefined) rest.push('COUNT', options.count)
    let cursor = '0'
    do {
      const [next, keys] = await this.run(['SCAN', cursor, ...rest], ANYWHERE, asList)
      cursor = asText(next)
      for (const key of asList(keys)) yield asText(key)
    } while (cursor !== '0')
  }

  /** One round trip a node. */
  async #count(name: string, keys: readonly string[], kind: CommandKind): Promise<number> {
    if (keys.length === 1) return this.run([name, keys[0]], kind, asNumber)
    const groups = this.groupKeys(keys)
    const counts = groups.map((places) =>
      this.run([name, ...places.map((place) => keys[place])], kind, asNumber)
    )
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }

  /** The places of the keys, those of one node together. */
  protected groupKeys(keys: readonly Argument[]): number[][] {
    const groups = new Map<string | undefined, number[]>()
    keys.forEach((key, place) => {
      const address = this.router.placeOf(key)
      const group = groups.get(address)
      if (group === undefined) groups.set(address, [place])
      else group.push(place)
    })
    return [...groups.values()]
  }
}

export function wholeMs(ms: number): number {
  if (!Number.isFinite(ms)) throw new OpenClusterError('OC_BAD_OPTION', `${ms}: not a time`)
  return Math.ceil(ms)
}

function asTtl(reply: ReplyValue): number | null {
  const ms = asNumber(reply)
  return ms === -2 ? null : ms === -1 ? Infinity : ms
}
