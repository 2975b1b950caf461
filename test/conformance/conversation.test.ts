/**
 * Conversations of several clients, held with a real Redis and with three nodes of ours at once: clients listen, wait for
 * each other and are told what others did. Client n is connected to node n modulo 3, so whatever one causes for another
 * goes from node to node. After each line every client must have received the same bytes from both sides.
 *
 *   n> command      client n sends it; words may be quoted as in redis-cli
 *   wait ms         time passes; Redis may say before it what ours says in it, because a busy machine is late with the
 *                   comparison and not with Redis's timers
 *   $idn            in a command stands for the number of client n
 *   ~n> command     the lines that other clients receive may come in any order
 *   #               a remark
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ClusterDoor, type RawClient } from './cluster-door.js'
import { findRedisServer, useRedisServer } from './redis-server.js'
import { splitWords } from './words.js'

const FOLDER = new URL('./conversations/', import.meta.url)
/** Redis has said what it has to say when nothing came for so long. */
const QUIET_MS = 25
/** A machine that is busy with other things may keep Redis from saying it. */
const LATE_MS_MAX = 1000
const CLIENTS = 4
const path = findRedisServer()
const server = useRedisServer(path)

function encode(args: readonly string[]): Buffer {
  const parts = args.map((text) => `$${text.length}\r\n${text}\r\n`)
  return Buffer.from(`*${args.length}\r\n${parts.join('')}`, 'latin1')
}

class RedisClient {
  text = ''
  readonly socket: Socket

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('data', (piece: Buffer) => (this.text += piece.toString('latin1')))
    this.socket.on('error', () => this.socket.destroy())
  }

  take(): string {
    const { text } = this
    this.text = ''
    return text
  }
}

function takeOurs(client: RawClient): string {
  const { text } = client
  client.text = ''
  return text
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function essence(text: string, unordered: boolean): string {
  if (!unordered) return text
  return text
    .split(/(?=[>*]\d+\r\n\$)/)
    .sort()
    .join('')
}

describe.skipIf(path === undefined)(
  'several clients of three nodes and of Redis are told alike',
  () => {
    const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))
    it.each(scripts.flatMap((name) => [2, 3].map((protocol) => [name, protocol] as const)))(
      '%s in RESP%i',
      async (name, protocol) => {
        const door = new ClusterDoor('a', 'b', 'c')
        const { port } = server()
        const ours = Array.from({ length: CLIENTS }, (_, i) => door.client(door.nodes[i % 3]))
        const theirs = Array.from({ length: CLIENTS }, () => new RedisClient(port))
        const ids: [string, string][] = []
        const send = (client: number, args: readonly string[]): void => {
          const named = (side: number): string[] =>
            args.map((word) => word.replace(/^\$id(\d)$/, (_, n: string) => ids[Number(n)][side]))
          ours[client].send(...named(0))
          theirs[client].socket.write(encode(named(1)))
        }
        const settle = async (ms: number): Promise<void> => {
          door.cluster.run(ms)
          await pause(ms)
          const isLate = (): boolean =>
            theirs.some(({ text }, i) => text.length < ours[i].text.length)
          for (let late = 0; isLate() && late < LATE_MS_MAX; late += QUIET_MS) await pause(QUIET_MS)
        }
        for (let i = 0; i < CLIENTS; i++) send(i, ['HELLO', String(protocol)])
        send(0, ['FLUSHALL'])
        send(0, ['CONFIG', 'SET', 'notify-keyspace-events', ''])
        await settle(QUIET_MS * 2)
        for (let i = 0; i < CLIENTS; i++) {
          takeOurs(ours[i])
          theirs[i].take()
        }
        for (let i = 0; i < CLIENTS; i++) send(i, ['CLIENT', 'ID'])
        await settle(QUIET_MS * 2)
        for (let i = 0; i < CLIENTS; i++) {
          ids.push([takeOurs(ours[i]).slice(1, -2), theirs[i].take().slice(1, -2)])
        }
        const hide = (text: string, side: number): string =>
          ids.reduce((shown, id, i) => shown.replaceAll(`:${id[side]}\r\n`, `:id${i}\r\n`), text)
        const differences: string[] = []
        const lines = readFileSync(new URL(name, FOLDER), 'utf8').split('\n')
        for (const [index, raw] of lines.entries()) {
          const line = raw.trim()
          const mayBeEarly = lines.at(index + 1)?.startsWith('wait') === true
          const said = /^(~?)(\d)> (.*)$/.exec(line)
          const wait = /^wait (\d+)$/.exec(line)
          if (wait !== null) await settle(Number(wait[1]))
          else if (said === null) continue
          else send(Number(said[2]), splitWords(said[3]))
          const loose = said?.[1]
          await settle(QUIET_MS)
          for (let i = 0; i < CLIENTS; i++) {
            const [our, their] = [hide(takeOurs(ours[i]), 0), hide(theirs[i].take(), 1)]
            if (essence(our, loose === '~') === essence(their, loose === '~')) continue
            if (mayBeEarly && their.startsWith(our)) {
              theirs[i].text = their.slice(our.length) + theirs[i].text
              continue
            }
            differences.push(
              `${line}\n  client ${i}\n  ours   ${JSON.stringify(our)}\n  theirs ${JSON.stringify(their)}`
            )
          }
        }
        for (const { socket } of theirs) socket.destroy()
        expect(differences.join('\n'), 'differences').toBe('')
      }
    )
  }
)
