/**
 * The scripts that door.test.ts sends byte for byte, by way of the clients people have: the same client sees the same at
 * three real nodes as at a real Redis. To a Redis cluster only commands within one slot can be sent; those are compared.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, RESP_TYPES } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readScript, type Comparison, type Line } from '../script.js'
import { havePrograms } from '../../support/packages.js'
import { BothServers, type Server } from './both-servers.js'
import { plain } from './stories.js'

const FOLDER = new URL('../scripts/', import.meta.url)
/** Not the one about the conversation, which is the client's own business. */
const SCRIPTS = ['families.txt', 'keys.txt', 'several.txt', 'transactions.txt']
const REDIS_CLI = '/usr/bin/redis-cli'
const hasRedisCli = havePrograms([REDIS_CLI], ['redis-tools'])
/** The words between two replies of redis-cli. */
const MARK = 'the end of this reply'

/** What Redis does not do in a cluster; here it is done for connections that did not ask for the topology themselves. */
const REFUSED = /CROSSSLOT|denied in Cluster mode/
const OF_A_NODE = new Set(
  'DBSIZE FLUSHALL FLUSHDB KEYS RANDOMKEY SCAN WATCH UNWATCH EXEC DISCARD'.split(' ')
)

const both = new BothServers()
beforeAll(() => both.start(), 150_000)
afterAll(() => both.stop())

interface Driver {
  send(args: readonly string[]): Promise<unknown>
  end(): void
}

function bytesOf(args: readonly string[]): Buffer[] {
  return args.map((arg) => Buffer.from(arg, 'latin1'))
}

/** redis-cli reads commands from its input, and says what came back as to a person: with the types. */
class CommandLine implements Driver {
  readonly #child: ChildProcessWithoutNullStreams
  #text = ''
  #isQueueing = false
  #onText: () => void = () => undefined

  constructor(port: number, ...options: string[]) {
    this.#child = spawn(REDIS_CLI, ['-p', String(port), '--no-raw', ...options])
    this.#child.stdout.on('data', (bytes: Buffer) => {
      this.#text += bytes.toString('latin1')
      this.#onText()
    })
  }

  async send(args: readonly string[]): Promise<string> {
    const quote = (arg: string): string =>
      `"${Array.from(arg, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}"`
    const word = args[0].toUpperCase()
    if (word === 'MULTI') this.#isQueueing = true
    if (word === 'EXEC' || word === 'DISCARD') this.#isQueueing = false
    // In a transaction the mark would be queued; all the replies come with that at its end.
    if (this.#isQueueing) {
      this.#child.stdin.write(`${args.map(quote).join(' ')}\n`)
      return ''
    }
    this.#child.stdin.write(`${args.map(quote).join(' ')}\nECHO "${MARK}"\n`)
    const end = `"${MARK}"\n`
    await new Promise<void>((resolve) => {
      this.#onText = () => {
        if (this.#text.endsWith(end)) resolve()
      }
    })
    const reply = this.#text.slice(0, -end.length)
    this.#text = ''
    return reply
  }

  end(): void {
    this.#child.stdin.end()
    this.#child.kill()
  }
}

const DRIVERS: Record<string, (server: Server) => Promise<Driver>> = {
  ioredis: ({ port }) => {
    const redis = new Redis(port)
    return Promise.resolve({
      send: ([name, ...args]) => redis.callBuffer(name, ...bytesOf(args)),
      end: () => redis.disconnect()
    })
  },
  'ioredis as a cluster': ({ clusterPort }) => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: clusterPort }])
    return Promise.resolve({
      send: async ([name, ...args]) => cluster.callBuffer(name, ...bytesOf(args)),
      end: () => cluster.disconnect()
    })
  },
  'node-redis': async ({ port }) => {
    const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer }
    const client = createClient({ socket: { port }, commandOptions: { typeMapping } })
    client.on('error', () => undefined)
    await client.connect()
    return { send: (args) => client.sendCommand(bytesOf(args)), end: () => client.destroy() }
  },
  'node-redis as a cluster': async ({ clusterPort }) => {
    const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${clusterPort}` }] })
    cluster.on('error', () => undefined)
    await cluster.connect()
    return {
      send: (args) => cluster.sendCommand(args[1], false, bytesOf(args)),
      end: () => cluster.destroy()
    }
  },
  'redis-cli': ({ port }) => Promise.resolve(new CommandLine(port)),
  'redis-cli -3': ({ port }) => Promise.resolve(new CommandLine(port, '-3')),
  'redis-cli -c': ({ clusterPort }) => Promise.resolve(new CommandLine(clusterPort, '-c'))
}

function sorted(reply: unknown): unknown {
  if (!Array.isArray(reply)) return reply
  return reply.map((item) => JSON.stringify(sorted(item))).sort()
}

/** What must be equal of a reply. */
function essence(reply: unknown, comparison: Comparison): unknown {
  if (comparison === 'exact') return reply
  if (comparison === 'kind') return Array.isArray(reply) ? 'array' : typeof reply
  if (typeof reply === 'string') {
    return reply
      .split('\n')
      .map((line) => line.replace(/^( *\d+[)~#] )+/, '').trim())
      .sort()
  }
  return sorted(reply)
}

/** Clients of a cluster choose a node by the key: no transactions word by word, and without a key it is any node. */
function fitsCluster(lines: readonly Line[]): Line[] {
  let isQueueing = false
  return lines.filter(({ args }) => {
    const word = args[0].toUpperCase()
    const isInside = isQueueing || word === 'MULTI'
    isQueueing = isInside && word !== 'EXEC' && word !== 'DISCARD'
    return !isInside && !OF_A_NODE.has(word)
  })
}

async function compare(
  lines: readonly Line[],
  [theirs, ours]: readonly [Driver, Driver]
): Promise<string[]> {
  const found: string[] = []
  for (const { args, comparison } of lines) {
    const see = async (driver: Driver): Promise<unknown> =>
      plain(await driver.send(args).catch((error: unknown) => error))
    const their = await see(theirs)
    if (REFUSED.test(String(their))) continue
    const our = await see(ours)
    const [ourText, theirText] = [our, their].map((reply) =>
      JSON.stringify(essence(reply, comparison))
    )
    if (ourText !== theirText) {
      found.push(`${args.join(' ').slice(0, 80)}\n  ours   ${ourText}\n  theirs ${theirText}`)
    }
  }
  return found
}

describe.each(Object.entries(DRIVERS))('%s', (client, open) => {
  it.each(SCRIPTS)('%s', async (name) => {
    if (both.theirs === undefined || both.ours === undefined) return
    if (client.startsWith('redis-cli') && !hasRedisCli) return
    const isCluster = /cluster|-c/.test(client.replace('redis-cli', ''))
    const lines = readScript(readFileSync(new URL(name, FOLDER), 'utf8'))
    await both.clear()
    const theirs = await open(both.theirs)
    const ours = await open(both.ours)
    try {
      expect(
        (await compare(isCluster ? fitsCluster(lines) : lines, [theirs, ours])).join('\n'),
        'differences'
      ).toBe('')
    } finally {
      theirs.end()
      ours.end()
    }
  })
})
