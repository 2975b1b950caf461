/**
 * The same random commands to a real Redis and to ours, and the replies held against each other byte
 * for byte, in RESP2 and RESP3. Repeat a failure with SEED=… as printed.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { latin1Bytes, latin1String } from '../../src/core/bytes.js'
import { Random } from '../../src/core/random.js'
import { COMMANDS } from '../../src/commands/registry.js'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import { RespError, type ReplyValue } from '../../src/wire/resp/reply-value.js'
import type { Protocol } from '../../src/wire/resp/reply-writer.js'
import { CommandMaker, type Comparison, madeNames } from './command-maker.js'
import { OneBucket } from './one-bucket.js'
import { Connection, findRedisServer, RedisServer } from './redis-server.js'

const COMMANDS_MAX = 40_000
const MS_MAX = 15_000
/** How many commands before a difference are printed. */
const HISTORY = 12
const CLOCK_DIFFERENCE_MS = 2000

let server: RedisServer | undefined
const connections: Connection[] = []

beforeAll(async () => {
  const path = findRedisServer()
  if (path !== undefined) server = await RedisServer.start(path)
}, 150_000)

afterAll(async () => {
  for (const connection of connections) connection.close()
  await server?.stop()
})

function parse(reply: string): ReplyValue {
  let value: ReplyValue = null
  const parser = new ReplyParser({ onReply: (parsed) => (value = parsed), payload: 'bytes' })
  parser.push(latin1Bytes(reply))
  return value
}

/** A value as one text, so that texts can be sorted and compared; doubles all in the same form. */
function textOf(value: ReplyValue): string {
  if (value instanceof Uint8Array) return canonical(latin1String(value, 0, value.length))
  if (value instanceof RespError) return `-${value.text}`
  if (Array.isArray(value)) return `[${value.map(textOf).join(' ')}]`
  if (value instanceof Set) return `~[${[...value].map(textOf).sort().join(' ')}]`
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${textOf(key)}=${textOf(item)}`)
    return `%[${entries.sort().join(' ')}]`
  }
  return String(value)
}

/** Redis 7.0 writes the scores of sorted sets with 17 digits, 7.2 and we with as few as will do. */
function canonical(text: string): string {
  return /^-?\d+\.\d+(e[+-]\d+)?$|^-?\d(\.\d+)?e[+-]\d+$/.test(text) ? String(Number(text)) : text
}

function sortPairs(items: readonly ReplyValue[]): string {
  const pairs: string[] = []
  for (let i = 0; i < items.length; i += 2) {
    pairs.push(`${textOf(items[i])}=${textOf(items[i + 1])}`)
  }
  return pairs.sort().join(' ')
}

function isScan(value: ReplyValue): value is [Uint8Array, ReplyValue[]] {
  return Array.isArray(value) && value.length === 2 && Array.isArray(value[1])
}

function unordered(value: ReplyValue, inPairs: boolean): string {
  if (isScan(value)) return `${textOf(value[0])} ${unordered(value[1], inPairs)}`
  if (!Array.isArray(value)) return textOf(value)
  return inPairs ? sortPairs(value) : value.map(textOf).sort().join(' ')
}

function shapeOf(value: ReplyValue): string {
  if (Array.isArray(value)) return `[${value.length} ${shapeOf(value[0] ?? null)}]`
  return value instanceof RespError ? textOf(value) : typeof value
}

function isSame(ours: string, theirs: string, comparison: Comparison, name: string): boolean {
  if (ours === theirs) return true
  const [a, b] = [parse(ours), parse(theirs)]
  // Whatever is inside, it must be the same kind of reply.
  if (ours[0] !== theirs[0]) return false
  switch (comparison) {
    case 'exact':
      return /^z/i.test(name) && textOf(a) === textOf(b)
    case 'unordered':
      return unordered(a, false) === unordered(b, false)
    case 'unordered-pairs':
      return unordered(a, true) === unordered(b, true)
    case 'shape':
      return shapeOf(a) === shapeOf(b)
    case 'seconds':
    case 'milliseconds': {
      if (typeof a !== 'number' || typeof b !== 'number') return false
      if (a < 0 || b < 0) return false
      const unit = comparison === 'seconds' ? 1000 : 1
      return Math.abs(a - b) * unit <= CLOCK_DIFFERENCE_MS
    }
  }
}

class Duel {
  readonly seed: number
  readonly ours: OneBucket
  readonly #theirs: readonly Connection[]
  readonly #history: string[] = []
  readonly seen = new Set<string>()
  errors = 0

  constructor(seed: number, theirs: readonly Connection[]) {
    this.seed = seed
    this.ours = new OneBucket(seed)
    this.#theirs = theirs
  }

  async run(args: readonly string[], comparison: Comparison, protocol: Protocol): Promise<void> {
    const waiting = this.#theirs[protocol - 2].send(args)
    this.ours.now = Date.now()
    this.ours.protocol = protocol
    const ours = this.ours.execute(...args).reply
    const theirs = await waiting
    this.#history.push(JSON.stringify(args))
    if (this.#history.length > HISTORY) this.#history.shift()
    this.seen.add(args[0].toLowerCase())
    if (ours.startsWith('-')) this.errors++
    if (isSame(ours, theirs, comparison, args[0])) return
    throw new Error(
      [
        `SEED=${this.seed}: RESP${protocol} ${JSON.stringify(args)} (${comparison})`,
        `  ours   ${JSON.stringify(ours)}`,
        `  theirs ${JSON.stringify(theirs)}`,
        '  after',
        ...this.#history.map((line) => `    ${line}`)
      ].join('\n')
    )
  }

  /** What all keys hold in the end. */
  async compareContents(): Promise<void> {
    for (const family of ['string', 'hash', 'list', 'set', 'zset', 'lex']) {
      for (const number of family === 'lex' ? [''] : ['1', '2', '3']) {
        const key = `${family}${number}`
        await this.run(['type', key], 'exact', 2)
        await this.run(['pttl', key], 'milliseconds', 2)
        await this.run(['get', key], 'exact', 2)
        await this.run(['hgetall', key], 'unordered-pairs', 3)
        await this.run(['lrange', key, '0', '-1'], 'exact', 2)
        await this.run(['smembers', key], 'unordered', 3)
        await this.run(['zrange', key, '0', '-1', 'withscores'], 'exact', 3)
      }
    }
  }
}

describe('our commands and those of Redis', () => {
  it('every command is made, but for those Redis does not have', () => {
    const made = madeNames()
    const names = COMMANDS.map(({ name }) => name).filter((name) => !name.startsWith('oc.'))
    const missing = names.filter((name) => !made.has(name))
    expect(missing).toEqual([])
  })

  it('answer alike', { timeout: MS_MAX * 3 }, async (context) => {
    if (server === undefined) {
      context.skip('there is no redis-server here')
      return
    }
    for (const protocol of ['2', '3']) {
      const connection = await Connection.open(server.port)
      connections.push(connection)
      await connection.send(['HELLO', protocol])
    }
    await connections[0].send(['FLUSHALL'])
    const seed = Number(process.env['SEED'] ?? 20_260)
    const random = new Random(seed)
    const maker = new CommandMaker(random.fork())
    const duel = new Duel(seed, connections)
    const deadline = Date.now() + MS_MAX
    let count = 0
    for (; count < COMMANDS_MAX && Date.now() < deadline; count++) {
      const { args, comparison } = maker.next()
      await duel.run(args, comparison, random.chance(0.5) ? 2 : 3)
    }
    await duel.compareContents()
    duel.ours.check()
    console.log(`${count} commands, ${duel.errors} of them answered by errors`)
    expect(count).toBeGreaterThan(2000)
    expect(duel.seen).toEqual(madeNames())
  })
})
