/** A node in a process of its own, started by the command a user would type. It ends with this process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { TIED_VARIABLE } from './start.js'

export interface NodeProcessOptions {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly join: string | undefined
  /** What it says on stderr. */
  readonly onLine: (line: string) => void
  readonly onEnd: (how: string) => void
}

/** From dist/src/cli. */
const COMMAND = fileURLToPath(new URL('../../../bin/opencluster', import.meta.url))

export class NodeProcess {
  readonly name: string
  /** Resolves when it serves; rejects when it ends before. */
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  address: string
  /** `HOST:PORT` of its HTTP door, or `off`. */
  http = 'off'
  running = true
  readonly #child: ChildProcess

  constructor(options: NodeProcessOptions) {
    const { name, host, port, join } = options
    this.name = name
    this.address = `${host}:${port}`
    const args = ['start', '--name', name, '--host', host, '--port', String(port)]
    if (join !== undefined) args.push('--join', join)
    args.push('--log-level', 'warn')
    const child = spawn(process.execPath, [COMMAND, ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, [TIED_VARIABLE]: '1' },
      // Ctrl-C is for the demonstration, which stops its nodes itself: all leaving at once have nowhere to go.
      detached: true
    })
    this.#child = child
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.running = false
        resolve()
        options.onEnd(signal ?? `exit code ${code ?? 'unknown'}`)
      })
    })
    const last: string[] = []
    createInterface({ input: child.stderr ?? process.stdin }).on('line', (line) => {
      last.splice(0, last.length, line)
      options.onLine(line)
    })
    this.ready = new Promise((resolve, reject) => {
      createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => {
        const found = /^opencluster ready .*\bresp=(\S+) http=(\S+)/.exec(line)
        if (found === null) return
        this.address = found[1]
        this.http = found[2]
        resolve()
      })
      child.once('error', reject)
      void this.ended.then(() => reject(new Error(`${name} did not start: ${last.join('')}`)))
    })
    this.ready.catch(() => undefined)
  }

  /** At once: a demonstration has nothing worth handing over. */
  async kill(): Promise<void> {
    if (this.running) this.#child.kill('SIGKILL')
    await this.ended
  }
}
