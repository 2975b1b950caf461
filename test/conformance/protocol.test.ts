/**
 * Bytes that are nearly the protocol, or not at all: the same to a real redis-server and to a node, whole and in pieces.
 * Both must answer the same bytes and end the connection alike. What is made is drawn from a seed; more of it with
 * OPENCLUSTER_FUZZ=N, and one case again with OPENCLUSTER_FUZZ_SEED=N.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../src/core/random.js'
import { Processes, until, type NodeProcess } from '../integration/process.js'
import { findRedisServer, RedisServer } from './redis-server.js'

const processes = new Processes()
let redis: RedisServer | undefined
let node: NodeProcess
let nodePort = 0

beforeAll(async () => {
  const path = findRedisServer()
  if (path !== undefined) redis = await RedisServer.start(path)
  node = await processes.start('a')
  nodePort = Number(node.address.split(':')[1])
}, 60_000)

afterAll(async () => {
  await processes.end()
  await redis?.stop()
})

type Pieces = 'whole' | 'bytes' | 'pieces'

/** Everything that comes back for these bytes, after which nothing more is said. */
function exchange(port: number, bytes: Buffer, pieces: Pieces, random: Random): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const parts: Buffer[] = []
    let isOver = false
    socket.on('data', (part) => parts.push(part))
    // Whoever hangs up in the middle of what is sent resets the connection.
    socket.on('error', () => undefined)
    socket.on('end', () => {
      isOver = true
      socket.end()
    })
    socket.on('close', () => resolve(Buffer.concat(parts).toString('latin1')))
    let at = 0
    const send = (): void => {
      if (isOver || socket.destroyed) return
      const rest = bytes.length - at
      const length = pieces === 'whole' ? rest : pieces === 'bytes' ? 1 : 1 + random.below(20)
      socket.write(bytes.subarray(at, at + length))
      at += length
      if (at < bytes.length) setImmediate(send)
      else socket.end()
    }
    socket.on('connect', send)
  })
}

const LENGTHS = ['0', '1', '3', '-1', '00', '+1', ' 1', '1 ', 'x', '', '600000000', '99999999999']
const COUNTS = ['0', '-1', '1', '2', '03', 'x', '', '-', '2147483648', '9999999999999999999999']
const INLINE = ['PING', '"PING"', "'PING'", 'ECHO "a b"', 'ECHO "\\x41\\n"', "ECHO 'it\\'s'"]
const BROKEN_INLINE = [
  'ECHO "open',
  "ECHO 'open",
  'ECHO "a"b',
  '  PING  ',
  '\tPING',
  '',
  'NOSUCH x'
]

class Maker {
  readonly #random: Random
  readonly #name: string

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.#name = `fuzz:${1_000_000 + seed}`
  }

  make(): Buffer {
    const parts = Array.from({ length: 1 + this.#random.below(5) }, () => this.#part())
    return this.#damage(Buffer.concat(parts))
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)]
  }

  #part(): Buffer {
    switch (this.#random.below(8)) {
      case 0:
        return Buffer.from(
          `${this.#pick([...INLINE, ...BROKEN_INLINE])}${this.#pick(['\r\n', '\n'])}`
        )
      case 1:
        return Buffer.from(`*${this.#pick(COUNTS)}\r\n`)
      case 2:
        return Buffer.from(`*1\r\n$${this.#pick(LENGTHS)}\r\n`)
      case 3: {
        const bytes = Array.from({ length: this.#random.below(40) }, () => this.#random.below(256))
        return Buffer.from(bytes)
      }
      default:
        return this.#command()
    }
  }

  #command(): Buffer {
    const key = `${this.#name}:${this.#random.below(3)}`
    const value = String.fromCharCode(
      ...Array.from({ length: this.#random.below(30) }, () => this.#random.below(256))
    )
    const words = this.#pick([
      ['PING'],
      ['ECHO', value],
      ['SET', key, value],
      ['GET', key],
      ['APPEND', key, value],
      ['LPUSH', key, value],
      ['DEL', key],
      [value, key],
      ['GET'],
      ['']
    ])
    const heads = words.map((word) => `$${word.length}\r\n${word}\r\n`)
    return Buffer.from(`*${words.length}\r\n${heads.join('')}`, 'latin1')
  }

  /** Some bytes are changed, left out or doubled, in half of all cases. */
  #damage(bytes: Buffer): Buffer {
    if (bytes.length === 0 || this.#random.below(2) === 0) return bytes
    const at = this.#random.below(bytes.length)
    const rest = bytes.subarray(at + 1)
    switch (this.#random.below(4)) {
      case 0:
        return Buffer.concat([bytes.subarray(0, at), Buffer.of(this.#random.below(256)), rest])
      case 1:
        return Buffer.concat([bytes.subarray(0, at), rest])
      case 2:
        return Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)])
      default:
        return bytes.subarray(0, at)
    }
  }
}

/** A browser at the wrong door is told so here; Redis just hangs up. */
function isHttp(bytes: Buffer): boolean {
  return /\b(?:post|host:)/i.test(bytes.toString('latin1'))
}

function memoryOf(pid: number): number {
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Number(kb) * 1024
}

/** Several at once, each with keys of its own, at one server after the other. */
async function exchangeAll(
  port: number,
  cases: readonly Case[],
  pieces: Pieces
): Promise<string[]> {
  const none = new Random(1)
  const cleared = await exchange(port, Buffer.from('FLUSHALL\r\n'), 'whole', none)
  expect(cleared).toBe('+OK\r\n')
  return Promise.all(
    cases.map(({ bytes, seed }) => exchange(port, bytes, pieces, new Random(seed)))
  )
}

interface Case {
  readonly seed: number
  readonly bytes: Buffer
}

async function compare(seeds: readonly number[]): Promise<void> {
  const cases = seeds
    .map((seed) => ({ seed, bytes: new Maker(seed).make() }))
    .filter(({ bytes }) => !isHttp(bytes))
  const expected = redis === undefined ? [] : await exchangeAll(redis.port, cases, 'whole')
  const whole = await exchangeAll(nodePort, cases, 'whole')
  const single = await exchangeAll(nodePort, cases, 'bytes')
  const pieces = await exchangeAll(nodePort, cases, 'pieces')
  cases.forEach(({ seed, bytes }, i) => {
    const shown = `OPENCLUSTER_FUZZ_SEED=${seed} ${JSON.stringify(bytes.toString('latin1'))}`
    if (redis !== undefined) expect(whole[i], shown).toBe(expected[i])
    expect(single[i], `${shown} byte by byte`).toBe(whole[i])
    expect(pieces[i], `${shown} in pieces`).toBe(whole[i])
  })
}

describe('bytes that are not quite the protocol', () => {
  const only = process.env['OPENCLUSTER_FUZZ_SEED']
  const count = Number(process.env['OPENCLUSTER_FUZZ'] ?? 400)

  it('are answered as Redis answers them, whole and in pieces', { timeout: 600_000 }, async () => {
    if (only !== undefined) {
      await compare([Number(only)])
      return
    }
    const AT_ONCE = 10
    let memory = 0
    for (let first = 0; first < count; first += AT_ONCE) {
      await compare(Array.from({ length: AT_ONCE }, (_, i) => first + i))
      if (first >= count / 2 && memory === 0) memory = memoryOf(node.pid)
    }
    // Nothing of it stays: neither connections nor memory.
    const connection = await processes.connect(node)
    await until('all connections to be closed', async () => {
      const info = await connection.call('INFO', 'clients')
      return typeof info === 'string' && info.includes('connected_clients:1\r')
    })
    expect(memoryOf(node.pid) - memory).toBeLessThan(48 * 1024 * 1024)
    expect(node.isRunning).toBe(true)
    expect(node.stderr).not.toContain('broke one of its own rules')
  })
})
