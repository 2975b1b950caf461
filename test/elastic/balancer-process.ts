/** The load balancer as a user runs it: the built command in a process of its own, which a test may kill. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

export class BalancerProcess {
  output = ''
  isRunning = true
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess

  /** `enter` are words before the command, such as those that go into a namespace. */
  constructor(args: readonly string[], enter: readonly string[] = []) {
    if (!existsSync(`${root}dist/src/cli/main.js`)) {
      throw new Error('not built; `npm run setup` first')
    }
    const command = process.env['OPENCLUSTER_BIN'] ?? `${root}bin/opencluster`
    const [program, ...words] = [...enter, process.execPath, command, 'loadbalance', ...args]
    this.#child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.stdout?.on('data', (bytes: Buffer) => (this.output += bytes.toString()))
    this.#child.stderr?.on('data', (bytes: Buffer) => (this.output += bytes.toString()))
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.isRunning = false
        resolve(code)
      })
    })
  }

  /** Of the first of the words, which is the balancer's if they all become the next. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }
}
