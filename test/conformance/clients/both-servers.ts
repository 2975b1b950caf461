/** Three real nodes of ours and a real Redis, plain and as a cluster of one: what is told at both must end the same. */
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { Processes } from '../../integration/process.js'
import { findRedisServer, RedisServer } from '../redis-server.js'

export interface Server {
  readonly port: number
  readonly clusterPort: number
}

export class BothServers {
  theirs: Server | undefined
  ours: Server | undefined
  readonly #processes = new Processes()
  readonly #servers: RedisServer[] = []

  /** Nothing is started, and nothing compared, where there is no Redis to be had. */
  async start(): Promise<void> {
    const path = findRedisServer()
    if (path === undefined) return
    this.#servers.push(await RedisServer.start(path), await RedisServer.startCluster(path))
    this.theirs = { port: this.#servers[0].port, clusterPort: this.#servers[1].port }
    const nodes = await this.#processes.cluster(['a', 'b', 'c'])
    const port = Number(nodes[0].address.split(':')[1])
    this.ours = { port, clusterPort: port }
  }

  async stop(): Promise<void> {
    await this.#processes.end()
    await Promise.all(this.#servers.map((server) => server.stop()))
  }

  async clear(): Promise<void> {
    const { theirs, ours } = this
    for (const port of [theirs?.port, theirs?.clusterPort, ours?.port]) {
      if (port === undefined) continue
      const redis = new Redis(port)
      await redis.flushall()
      await redis.config('SET', 'notify-keyspace-events', '')
      redis.disconnect()
    }
  }

  /** Tells the story at both, each beginning with nothing. */
  async compare(story: (server: Server) => Promise<unknown>): Promise<void> {
    const { theirs, ours } = this
    if (theirs === undefined || ours === undefined) return
    await this.clear()
    const expected = await story(theirs)
    expect(await story(ours)).toEqual(expected)
  }
}
