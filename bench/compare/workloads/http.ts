/** `/v0/entity` against the least that an HTTP store in Node can be: a Map behind node:http. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.js'
import { fillJob } from '../generator.js'
import { toSample, type Sample, type Side } from '../measure.js'
import { startOpenCluster } from '../peers/opencluster.js'
import { startPlainHttp } from '../peers/plain-http.js'
import { pidsOf, type Server } from '../peers/server.js'
import { readCpuUs, sum } from '../proc.js'
import { runProgram } from '../processes.js'
import { keyText } from '../request-template.js'

export const GROUP = 'http'
const KEYS = 10_000
const VALUE_BYTES = 64
const CONNECTIONS = 50

export async function run(bench: Bench): Promise<void> {
  if (!bench.wants(GROUP)) return
  const { warmupMs, durationMs } = bench.sizes
  const start = (): Promise<Server> =>
    startOpenCluster(bench.processes, { nodes: 1, copies: 2, http: true })
  const createSides = (take: (server: Server) => Promise<Sample>): [Side, Side] => {
    const createSide = (label: string, begin: () => Promise<Server>): Side => ({
      label,
      prepare: async () => {
        const server = await bench.use(nameOf(label), begin)
        const filling = fillJob(targetOf(server), { keys: KEYS, valueBytes: VALUE_BYTES })
        await bench.generator.run(filling)
        // Not counted: its code is compiled for this kind of request.
        await take(server)
      },
      take: async () => take(await bench.use(nameOf(label), begin))
    })
    return [
      createSide('opencluster', start),
      createSide('node:http', () => startPlainHttp(bench.processes))
    ]
  }
  for (const mix of ['get', 'set'] as const) {
    const name = `${mix === 'get' ? 'GET' : 'PUT'} /v0/entity`
    const shape = { mix, connections: CONNECTIONS, pipeline: 1, keys: KEYS } as const
    const job = { ...shape, valueBytes: VALUE_BYTES, warmupMs, durationMs }
    await bench.measure(
      { group: GROUP, name, unit: 'op/s', better: 'more' },
      createSides(async (server) =>
        toSample(await bench.generator.run({ ...targetOf(server), ...job }))
      )
    )
  }
  const { wrk } = bench.tools
  if (wrk !== undefined) {
    const folder = bench.processes.createFolder()
    await bench.measure(
      { group: GROUP, name: 'GET /v0/entity, wrk', unit: 'op/s', better: 'more' },
      createSides((server) => runWrk(bench, wrk, { server, folder }))
    )
  }
  await bench.release(nameOf('opencluster'), nameOf('node:http'))
}

function targetOf(server: Server): { ports: number[]; protocol: 'http'; pids: number[] } {
  if (server.httpPort === undefined) throw new Error('it has no HTTP door')
  return { ports: [server.httpPort], protocol: 'http', pids: pidsOf(server) }
}

function nameOf(label: string): string {
  return `${GROUP}: ${label}`
}

async function runWrk(
  bench: Bench,
  wrk: string,
  { server, folder }: { server: Server; folder: string }
): Promise<Sample> {
  const script = join(folder, 'keys.lua')
  const path = `/v0/entity?id=${keyText('key:', 0).slice(0, -5)}`
  writeFileSync(
    script,
    `request = function()
  return wrk.format("GET", string.format("${path}%05d", math.random(0, ${KEYS - 1})))
end
done = function(summary, latency)
  local errors = summary.errors.status + summary.errors.read + summary.errors.connect
  io.write(string.format("figures %d %d %d %f %f %f %f\\n", summary.requests, summary.duration, errors,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
`
  )
  const seconds = Math.max(1, Math.round(bench.sizes.durationMs / 1000))
  const before = sum(pidsOf(server).map(readCpuUs))
  const shape = ['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, '-s', script] as const
  const url = `http://127.0.0.1:${server.httpPort ?? 0}/`
  const text = await runProgram(bench.processes, [wrk, ...shape, url], (seconds + 30) * 1000)
  const used = sum(pidsOf(server).map(readCpuUs)) - before
  const found = /^figures (.*)$/m.exec(text)?.[1].split(' ').map(Number)
  if (found === undefined) throw new Error(`wrk said: ${text.trim().slice(-100)}`)
  const [requests, us, errors, p50, p99, p999, max] = found
  if (errors > 0) throw new Error(`${errors} requests failed`)
  const latency = { p50: p50 / 1000, p99: p99 / 1000, p999: p999 / 1000, max: max / 1000 }
  return { value: (requests * 1e6) / us, cpuUs: used / requests, latency }
}
