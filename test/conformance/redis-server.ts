/** A real redis-server on a free loopback port, and connections to it that keep the bytes of each reply. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import { havePrograms } from '../support/packages.js'

const PATH = '/usr/bin/redis-server'
const START_MS_MAX = 10_000

/** Installs it where that is possible; undefined where it is not, or an error if CI says it must be. */
export function findRedisServer(): string | undefined {
  if (havePrograms([PATH], ['redis-server'])) return PATH
  if (process.env['CI'] === 'true') throw new Error(`${PATH} is missing and cannot be installed`)
  return undefined
}

/** One for all tests of a file; what it returns throws until it runs. */
export function useRedisServer(path: string | undefined): () => RedisServer {
  let server: RedisServer | undefined
  beforeAll(async () => {
    if (path !== undefined) server = await RedisServer.start(path)
  }, 150_000)
  afterAll(async () => server?.stop())
  return () => {
    if (server === undefined) throw new Error('Redis was not started')
    return server
  }
}

export class RedisServer {
  readonly port: number
  readonly #process: ChildProcess
  readonly #folder: string

  private constructor(port: number, child: ChildProcess, folder: string) {
    this.port = port
    this.#process = child
    this.#folder = folder
  }

  static async start(path: string, ...more: string[]): Promise<RedisServer> {
    const port = await findFreePort()
    const folder = mkdtempSync(join(tmpdir(), 'opencluster-redis-'))
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
    const child = spawn(path, [...options, ...more], { stdio: 'ignore' })
    const server = new RedisServer(port, child, folder)
    const deadline = Date.now() + START_MS_MAX
    for (;;) {
      try {
        const connection = await Connection.open(port)
        connection.close()
        return server
      } catch (error) {
        if (Date.now() > deadline || child.exitCode !== null) {
          await server.stop()
          throw error
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  /** One that is a whole Redis Cluster by itself. */
  static async startCluster(path: string): Promise<RedisServer> {
    const server = await RedisServer.start(
      path,
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1'
    )
    const connection = await Connection.open(server.port)
    await connection.send(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
    const deadline = Date.now() + START_MS_MAX
    while (!(await connection.send(['CLUSTER', 'INFO'])).includes('cluster_state:ok')) {
      if (Date.now() > deadline) throw new Error('the cluster of one is not up')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    connection.close()
    return server
  }

  async stop(): Promise<void> {
    const child = this.#process
    if (child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('no port'))
      })
    })
  })
}

/** One command at a time, so that the bytes up to the end of a reply are that reply. */
export class Connection {
  readonly #socket: Socket
  readonly #parser: ReplyParser
  #received: Buffer[] = []
  #resolve: ((reply: string) => void) | undefined
  #reject: ((error: Error) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    this.#parser = new ReplyParser({ onReply: () => this.#complete(), payload: 'bytes' })
    socket.on('data', (piece: Buffer) => {
      this.#received.push(piece)
      this.#parser.push(piece)
    })
    socket.on('error', (error) => this.#reject?.(error))
    socket.on('close', () => this.#reject?.(new Error('the connection was closed')))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
    })
  }

  /** The bytes of the reply, one character each. */
  send(args: readonly string[]): Promise<string> {
    const parts = args.map((text) => `$${text.length}\r\n${text}\r\n`)
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#socket.write(Buffer.from(`*${args.length}\r\n${parts.join('')}`, 'latin1'))
    })
  }

  close(): void {
    this.#reject = undefined
    this.#socket.destroy()
  }

  #complete(): void {
    const reply = Buffer.concat(this.#received).toString('latin1')
    this.#received = []
    this.#resolve?.(reply)
  }
}
