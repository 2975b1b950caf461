/**
 * Real processes for the tests: started by the built command on free ports, awaited by what they say, and
 * killed by their own id when the test is over, however it ended. A process whose test runner died ends as well.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { RespConnection } from '../../src/cli/resp-connection.js'
import { fetchClusterStatus, fetchStatus } from '../../src/cli/cluster-status.js'
import { parseAddress } from '../../src/config/address.js'
import type { Status } from '../../src/index.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const LOOK_MS = 20
const WAIT_MS_MAX = 30_000

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Process {
  readonly ended: Promise<Ended>
  stdout = ''
  stderr = ''
  isRunning = true
  readonly #child: ChildProcess

  /** `enter`: the words of a command that runs it elsewhere, on another host for instance. */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    enter: readonly string[] = []
  ) {
    if (!existsSync(`${root}dist/src/cli/main.js`)) {
      throw new Error('not built; `npm run setup` first')
    }
    const [program, ...words] = [...enter, process.execPath, 'bin/opencluster', ...args]
    this.#child = spawn(program, words, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, OPENCLUSTER_TIED: '1', ...env }
    })
    this.#child.stdout?.on('data', (bytes: Buffer) => (this.stdout += bytes.toString()))
    this.#child.stderr?.on('data', (bytes: Buffer) => (this.stderr += bytes.toString()))
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.isRunning = false
        resolve({ code, signal })
      })
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal)
  }

  /** Waits for a line on stdout that matches. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    let found: RegExpExecArray | null = null
    await until(`${String(pattern)} on stdout`, () => {
      found = pattern.exec(this.stdout)
      if (found === null && !this.isRunning) throw new Error(`ended with:\n${this.stderr}`)
      return found !== null
    })
    return found!
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }
}

export class NodeProcess extends Process {
  address = ''
  /** `HOST:PORT`, or `off`. */
  http = ''

  async serves(): Promise<this> {
    const ready = /^opencluster ready name=\S+ resp=(\S+) http=(\S+)\n/
    const [, address, http] = await this.line(ready)
    this.address = address
    this.http = http
    return this
  }

  connect(): Promise<RespConnection> {
    return RespConnection.open(this.address)
  }

  status(): Promise<Status> {
    return fetchClusterStatus(this.address)
  }

  /** As far as this node knows, without asking the others. */
  ownStatus(): Promise<Status> {
    return fetchStatus(this.address)
  }
}

/** What a test started; `end` belongs into `afterEach`. */
export class Processes {
  readonly #started: Process[] = []
  readonly #connections: RespConnection[] = []

  run(...args: string[]): Process {
    const process = new Process(args)
    this.#started.push(process)
    return process
  }

  launch(name: string, ...args: string[]): NodeProcess {
    const first = ['start', '--port', '0', '--http-port', '0', '--name', name]
    const node = new NodeProcess([...first, ...args])
    this.#started.push(node)
    return node
  }

  /** On another host. */
  launchIn(enter: readonly string[], name: string, ...args: string[]): NodeProcess {
    const first = ['start', '--port', '0', '--http-port', 'off', '--name', name]
    const node = new NodeProcess([...first, ...args], {}, enter)
    this.#started.push(node)
    return node
  }

  start(name: string, ...args: string[]): Promise<NodeProcess> {
    return this.launch(name, ...args).serves()
  }

  startWitness(name: string, member: NodeProcess): Promise<NodeProcess> {
    const first = ['witness', '--port', '0', '--http-port', '0', '--name', name]
    const node = new NodeProcess([...first, '--join', member.address])
    this.#started.push(node)
    return node.serves()
  }

  /** As many nodes as names, joined to the first and at rest. */
  async cluster(names: readonly string[], ...args: string[]): Promise<NodeProcess[]> {
    const first = await this.start(names[0], ...args)
    const others = await Promise.all(
      names.slice(1).map((name) => this.start(name, '--join', first.address, ...args))
    )
    const nodes = [first, ...others]
    await untilBalanced(nodes)
    return nodes
  }

  async connect(node: NodeProcess): Promise<RespConnection> {
    const connection = await node.connect()
    this.#connections.push(connection)
    return connection
  }

  async end(): Promise<void> {
    for (const connection of this.#connections.splice(0)) connection.close()
    await Promise.all(this.#started.splice(0).map((process) => process.kill()))
  }
}

/** Every one of them says that the cluster has so many nodes and is at rest. */
export async function untilBalanced(nodes: readonly NodeProcess[]): Promise<void> {
  let seen: unknown
  const atRest = async (): Promise<boolean> => {
    for (const node of nodes) {
      const status = await node.status()
      const alive = status.nodes.filter(({ state }) => state === 'alive').length
      seen = { ...status, buckets: undefined }
      if (alive !== nodes.length || !status.balanced || status.moves.length > 0) return false
    }
    return true
  }
  await until(() => `a balanced cluster, not ${JSON.stringify(seen)}`, atRest)
}

/** Every one of them knows that three voters are in: from then on `auto` decides by majority. */
export async function untilMajority(nodes: readonly NodeProcess[]): Promise<void> {
  await until('three voters', async () => {
    const seen = await Promise.all(nodes.map((node) => node.ownStatus()))
    return seen.every(({ policy }) => policy === 'majority')
  })
}

export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>
): Promise<void> {
  const limitMs = performance.now() + WAIT_MS_MAX
  while (!(await condition())) {
    if (performance.now() > limitMs) {
      throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`)
    }
    await pause(LOOK_MS)
  }
}

/** Sends bytes as they are, and gives what comes back until the other side closes. */
export function exchange(address: string, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...parseAddress(address)! })
    const pieces: Buffer[] = []
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', (piece) => pieces.push(piece))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(pieces).toString('latin1')))
  })
}
