/**
 * `opencluster demo`: a cluster of a few processes on this machine, with a little traffic, until Ctrl-C. It starts the
 * nodes by the same command a user would, and says how to connect and how to add one more.
 */
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { integer } from '../config/option.js'
import { showBalancing } from './balance-demo.js'
import { fetchClusterStatus, formatSummary } from './cluster-status.js'
import { defineVerb, EXIT, type Output } from './command.js'
import { DemoTraffic } from './demo-traffic.js'
import { NodeProcess } from './node-process.js'
import { flag } from './options.js'

const HOST = '127.0.0.1'
const FIRST_PORT = 13600
const PORTS_TRIED_MAX = 1000
const NODES_MAX = 16
/** The first balancing of an empty cluster; the demonstration goes on if it takes longer. */
const BALANCE_MS_MAX = 15_000
const LOOK_MS = 100
const LIVE_MS = 1000
const CLEAR_LINE = '\r\u001b[K'

export const demo = defineVerb({
  name: 'demo',
  summary: 'several nodes on this machine, with a little traffic',
  description: [
    'Starts the nodes as processes on free ports from 13600 on, writes and reads a few keys all the time, and',
    'prints how to connect. Ctrl-C stops all of them. With --rules: the balancing rules alone, drawn',
    'for a cluster that grows from one node to six, and the figures for a larger one.'
  ].join('\n'),
  example: 'opencluster demo --nodes 3',
  options: {
    nodes: integer('how many nodes', 3, { min: 1, max: NODES_MAX }),
    rules: flag('no processes: watch the balancing rules at work')
  },
  run: async ({ nodes, rules }, output) => {
    if (rules === true) {
      showBalancing(output)
      output.stdout.write('ready\n')
      return EXIT.success
    }
    return new Demo(output).run(nodes)
  }
})

class Demo {
  readonly #output: Output
  readonly #nodes: NodeProcess[] = []
  readonly #traffic = new DemoTraffic(() =>
    this.#nodes.filter(({ running }) => running).map(({ address }) => address)
  )
  readonly #stopped: Promise<number>
  #stop: (code: number) => void = () => undefined
  #stopping = false

  constructor(output: Output) {
    this.#output = output
    this.#stopped = new Promise((resolve) => (this.#stop = resolve))
  }

  async run(count: number): Promise<number> {
    const onSignal = (): void => this.#stop(EXIT.success)
    process.once('SIGINT', onSignal)
    process.once('SIGTERM', onSignal)
    try {
      const begun = this.#begin(count)
      // A signal before everything runs ends it as well; what fails then is of no interest.
      begun.catch(() => undefined)
      const early = await Promise.race([begun, this.#stopped])
      if (early !== undefined) return early
      this.#traffic.start()
      this.#explain()
      void this.#live()
      return await this.#stopped
    } finally {
      this.#stopping = true
      this.#traffic.stop()
      await Promise.all(this.#nodes.map((node) => node.kill()))
    }
  }

  async #begin(count: number): Promise<undefined> {
    let port = FIRST_PORT
    for (let number = 1; number <= count; number++) {
      const free = await findFreePort(port)
      if (free > port) this.#say(`port ${port} is taken; node-${number} takes ${free}`)
      port = free + 1
      const node = new NodeProcess({
        name: `node-${number}`,
        host: HOST,
        port: free,
        join: number === 1 ? undefined : this.#nodes[0].address,
        onLine: (line) => this.#output.stderr.write(`node-${number}: ${line}\n`),
        onEnd: (how) => this.#onEnd(`node-${number}`, how)
      })
      this.#nodes.push(node)
      if (number === 1) await node.ready
    }
    await Promise.all(this.#nodes.map(({ ready }) => ready))
    const untilMs = performance.now() + BALANCE_MS_MAX
    while (performance.now() < untilMs && !this.#stopping) {
      if ((await fetchClusterStatus(this.#nodes[0].address)).balanced) break
      await sleep(LOOK_MS)
    }
    return undefined
  }

  #explain(): void {
    const [{ address, http }] = this.#nodes
    const port = address.slice(address.lastIndexOf(':') + 1)
    const list = this.#nodes.map((node) => `  ${node.name}  ${node.address}`)
    this.#say(
      [
        `${this.#nodes.length === 1 ? 'One node' : `${this.#nodes.length} nodes`} on this machine:`,
        ...list,
        '',
        ...(http === 'off' ? [] : [`  dashboard      http://${http}/`]),
        `  connect        redis-cli -p ${port}`,
        `  look           npx opencluster status --node ${address} --watch`,
        `  add a node     npx opencluster start --port 0 --join ${address}`,
        `  stop           Ctrl-C`,
        '',
        'ready'
      ].join('\n')
    )
  }

  /** One line on a terminal, kept up to date; nothing anywhere else. */
  async #live(): Promise<void> {
    const { stderr } = this.#output
    if (stderr.isTTY !== true) return
    while (!this.#stopping) {
      const address = this.#nodes.find(({ running }) => running)?.address
      if (address !== undefined) {
        const line = await fetchClusterStatus(address).then(
          (status) => {
            const levels = status.nodes
              .filter(({ state }) => state === 'alive' || state === 'leaving')
              .map(({ primaries, backups }) => `${primaries}+${backups}`)
            const { operations, errors } = this.#traffic.take()
            const traffic = `${operations} operations/s${errors > 0 ? `, ${errors} errors` : ''}`
            return `${formatSummary(status)} | ${levels.join(' ')} | ${traffic}`
          },
          (error: unknown) => String(error)
        )
        if (!this.#isStopping()) stderr.write(`${CLEAR_LINE}${line}`)
      }
      await sleep(LIVE_MS)
    }
    stderr.write('\n')
  }

  #isStopping(): boolean {
    return this.#stopping
  }

  #onEnd(name: string, how: string): void {
    if (this.#stopping) return
    this.#say(`${name} has ended (${how})`)
    if (this.#nodes.every(({ running }) => !running)) this.#stop(EXIT.failure)
  }

  #say(text: string): void {
    if (this.#output.stderr.isTTY === true) this.#output.stderr.write(CLEAR_LINE)
    this.#output.stdout.write(`${text}\n`)
  }
}

async function findFreePort(from: number): Promise<number> {
  for (let port = from; port < from + PORTS_TRIED_MAX; port++) {
    if (await isFree(port)) return port
  }
  throw new Error(`no free port from ${from} to ${from + PORTS_TRIED_MAX - 1}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: HOST, port }, () => server.close(() => resolve(true)))
  })
}
