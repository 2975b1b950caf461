/**
 * The ring's HTTP door against the least that an HTTP store in Node can be (a Map behind node:http), on one node and through
 * three with 64 connections; and a node that joins: keys a second, with clients that read all the time and may not miss one.
 */
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.js'
import { fillJob } from '../generator.js'
import { toSample, type Side } from '../measure.js'
import { startNode } from '../peers/opencluster.js'
import { startPlainHttp } from '../peers/plain-http.js'
import { pidsOf, stopServer, type Server } from '../peers/server.js'
import { until, type Started } from '../processes.js'
import { keyText } from '../request-template.js'
import { formatKeys } from './memory.js'

export const GROUP = 'ring'
const KEYS = 10_000
const VALUE_BYTES = 64
const CONNECTIONS = 64
const READERS = 8
const KEYS_MOVED = 1_000_000
const KEYS_A_FILL = 100_000
const MOVE_MS_MAX = 600_000

interface RingServer extends Server {
  /** The doors for data of all its nodes. */
  readonly doors: readonly number[]
}

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  const { warmupMs, durationMs } = bench.sizes
  for (const nodes of [1, 3]) {
    const where = nodes === 1 ? 'one node' : 'through three nodes'
    const label = `${GROUP}: ${where}`
    for (const mix of ['get', 'set'] as const) {
      const shape = { mix, connections: CONNECTIONS, pipeline: 1, keys: KEYS } as const
      const job = { ...shape, valueBytes: VALUE_BYTES, warmupMs, durationMs }
      const createSide = (name: string, begin: () => Promise<Server>): Side => ({
        label: name,
        prepare: async () => {
          const target = targetOf(await bench.use(`${label} ${name}`, begin))
          await bench.generator.run(fillJob(target, { keys: KEYS, valueBytes: VALUE_BYTES }))
        },
        take: async () =>
          toSample(
            await bench.generator.run({
              ...targetOf(await bench.use(`${label} ${name}`, begin)),
              ...job
            })
          )
      })
      const name = `${mix === 'get' ? 'GET' : 'PUT'} /v0/entity of a ring, ${where}`
      await bench.measure({ group: GROUP, name, unit: 'op/s', better: 'more' }, [
        createSide('opencluster', () => startRing(bench, nodes, Math.min(nodes, 3))),
        createSide('node:http', () => startPlainHttp(bench.processes))
      ])
    }
    await bench.release(`${label} opencluster`, `${label} node:http`)
  }
  const keys = bench.sizes.quick ? Math.max(...bench.sizes.keysMoved) : KEYS_MOVED
  const name = `a node joins a ring that is read, and gets ${formatKeys(keys)} keys`
  if (bench.wants(GROUP, name)) await measureJoin(bench, name, keys)
}

async function measureJoin(bench: Bench, name: string, keys: number): Promise<void> {
  let [reads, failed] = [0, 0]
  const take: Side['take'] = async () => {
    // With two copies the second node gets every key.
    const server = await startRing(bench, 1, 2)
    try {
      const target = { ports: [...server.ports], protocol: 'resp' as const, pids: pidsOf(server) }
      // In pieces, each with the time that the generator gives a job.
      for (let from = 0; from < keys; from += KEYS_A_FILL) {
        const piece = { keys: Math.min(KEYS_A_FILL, keys - from), from, valueBytes: VALUE_BYTES }
        await bench.generator.run(fillJob(target, piece))
      }
      const readers = new Readers(server.doors[0], keys)
      // From the first that is known of it: that its process takes a while to start is not counted.
      const begun = until('the change', async () => {
        const { nodes } = await readConfig(server.doors[0])
        return nodes.length === 2
      }).then(() => performance.now())
      const second = await startRingNode(bench, server.ports[0], 2, 2)
      const startedMs = await begun
      let moved = 0
      await until(
        'the end of the transfer',
        async () => {
          const { stage, nodes } = await readConfig(server.doors[0])
          moved = nodes.find((node) => node.name === 'ring-2')?.records ?? 0
          return stage === 'rest' && nodes.length === 2 && moved > 0
        },
        MOVE_MS_MAX
      )
      const seconds = (performance.now() - startedMs) / 1000
      await readers.stop()
      reads += readers.reads
      failed += readers.failed
      await stopServer(bench.processes, { ...server, nodes: [...server.nodes, second.started] })
      return { value: moved / seconds }
    } catch (error) {
      await stopServer(bench.processes, server)
      throw error
    }
  }
  const figure = { group: GROUP, unit: 'keys/s', better: 'more', name } as const
  await bench.measure(figure, [{ label: 'opencluster', take }], 1)
  await bench.measure(
    { group: GROUP, unit: 'requests', better: 'less', name: `${name}: failed reads` },
    [
      {
        label: 'opencluster',
        take: () => {
          if (reads === 0) return Promise.reject(new Error('nothing was read'))
          return Promise.resolve({ value: failed })
        }
      }
    ],
    1
  )
}

/** Keys that are there, one after the other, all the time. */
class Readers {
  reads = 0
  failed = 0
  #running = true
  readonly #agent = new Agent({ keepAlive: true, maxSockets: READERS })
  readonly #done: Promise<unknown>

  constructor(port: number, keys: number) {
    const loop = async (at: number): Promise<void> => {
      for (let i = at; this.#running; i = (i + READERS * 97) % keys) {
        const status = await ask(this.#agent, port, keyText('key:', i))
        this.reads++
        if (status !== 200) this.failed++
      }
    }
    this.#done = Promise.all(Array.from({ length: READERS }, (_, at) => loop(at)))
  }

  async stop(): Promise<void> {
    this.#running = false
    await this.#done
    this.#agent.destroy()
  }
}

function ask(agent: Agent, port: number, key: string): Promise<number> {
  return new Promise((resolve) => {
    const path = `/v0/entity?id=${key}`
    const request = get({ host: '127.0.0.1', port, path, agent }, (reply) => {
      reply.resume()
      reply.on('end', () => resolve(reply.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
  })
}

async function readConfig(
  port: number
): Promise<{ stage: string; nodes: { name: string; state: string; records: number }[] }> {
  const reply = await fetch(`http://127.0.0.1:${port}/v0/cluster-config`)
  return (await reply.json()) as Awaited<ReturnType<typeof readConfig>>
}

async function startRing(bench: Bench, count: number, copies: number): Promise<RingServer> {
  const [nodes, ports, doors]: [Started[], number[], number[]] = [[], [], []]
  for (let number = 1; number <= count; number++) {
    const node = await startRingNode(bench, ports.at(0), number, copies)
    nodes.push(node.started)
    ports.push(node.port)
    doors.push(node.httpPort ?? 0)
  }
  await until('a ring at rest', async () => {
    const { stage, nodes: seen } = await readConfig(doors[0])
    return stage === 'rest' && seen.length === count
  })
  // What the joins left over is deleted now.
  if (count > 1) await sleep(1000)
  return { label: 'opencluster', protocol: 'http', ports, httpPort: doors[0], nodes, doors }
}

function startRingNode(
  bench: Bench,
  join: number | undefined,
  number: number,
  copies: number
): ReturnType<typeof startNode> {
  const flags = ['--placement', 'ring', '--http-port', '0', '--vnodes', '64']
  return startNode(bench.processes, join, [
    ...flags,
    ...['--copies', String(copies), '--name', `ring-${number}`]
  ])
}

function targetOf(server: Server): { ports: number[]; protocol: 'http'; pids: number[] } {
  const doors = 'doors' in server ? [...(server as RingServer).doors] : [server.httpPort ?? 0]
  return { ports: doors, protocol: 'http', pids: pidsOf(server) }
}
