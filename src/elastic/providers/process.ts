/**
 * Hosts as processes on this machine. Each writes down its own number before it becomes the program, so that even a
 * balancer that dies the next moment leaves nothing that the next one does not find. Ending one is SIGTERM, on which a
 * node of the data cluster hands its copies over and leaves; it is never killed while it does.
 */
import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync
} from 'node:fs'
import { join } from 'node:path'
import { isProcess } from '../process-identity.js'
import type { Machine, MachineRequest, Provider } from './provider.js'

export interface ProcessOptions {
  /** Where numbers and logs are kept. */
  readonly folder: string
  /** The words of the program; `{name}` stands for the host's name. */
  readonly argv: readonly string[]
  /** A line of its output that says it is up; its first group, if any, is the address. */
  readonly readyPattern: RegExp | undefined
  readonly env?: Readonly<Record<string, string>>
  readonly now: () => number
}

/** `$1` is the file for the number; the rest is the program. */
const START_SCRIPT = [
  'f=$1; shift',
  'if [ -r /proc/$$/stat ]; then t=$(cut -d" " -f22 /proc/$$/stat)',
  'else t=$(ps -o lstart= -p $$ | sed "s/ *$//"); fi',
  'echo "$$ $t" > "$f.new" && mv "$f.new" "$f" && exec "$@"'
].join('\n')
const LOG_BYTES_READ_MAX = 1024 * 1024
const WRITTEN_MS_MAX = 5000
const LOOK_MS = 20

export class ProcessProvider implements Provider {
  readonly label = 'process'
  readonly #options: ProcessOptions

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  list(): Promise<readonly Machine[]> {
    const { folder } = this.#options
    const names = (existsSync(folder) ? readdirSync(folder) : [])
      .filter((file) => file.endsWith('.pid'))
      .map((file) => file.slice(0, -'.pid'.length))
    return Promise.resolve(names.flatMap((name) => this.#find(name) ?? []))
  }

  async launch({ name }: MachineRequest): Promise<Machine> {
    const known = this.#find(name)
    if (known?.state === 'running') return known
    rmSync(this.#path(name, 'pid'), { force: true })
    const { argv, env, folder } = this.#options
    mkdirSync(folder, { recursive: true })
    const words = argv.map((word) => word.replaceAll('{name}', name))
    const log = openSync(this.#path(name, 'log'), 'w', 0o600)
    try {
      const child = spawn('sh', ['-c', START_SCRIPT, 'sh', this.#path(name, 'pid'), ...words], {
        // Not in our group: Ctrl-C is for the balancer alone, and the process outlives it.
        detached: true,
        stdio: ['ignore', log, log],
        env: { ...process.env, ...env, OC_HOST: name }
      })
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', reject)
      })
      child.unref()
    } finally {
      closeSync(log)
    }
    const limit = performance.now() + WRITTEN_MS_MAX
    for (;;) {
      const started = this.#find(name)
      if (started?.state === 'running') return started
      if (started?.state === 'gone')
        throw new Error(`${name} ended at once: ${this.#lastLine(name)}`)
      if (performance.now() > limit) throw new Error(`${name} did not start`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  checkReady({ name }: MachineRequest): Promise<Machine | undefined> {
    const machine = this.#find(name)
    if (machine?.state !== 'running') {
      return Promise.reject(new Error(`${name} has ended: ${this.#lastLine(name)}`))
    }
    const { readyPattern } = this.#options
    if (readyPattern === undefined) return Promise.resolve(machine)
    const found = readyPattern.exec(this.#readLog(name))
    if (found === null) return Promise.resolve(undefined)
    const address = found.at(1)
    return Promise.resolve(address === undefined ? machine : { ...machine, address })
  }

  terminate({ name }: MachineRequest): Promise<boolean> {
    const machine = this.#find(name)
    if (machine?.state === 'running') {
      try {
        process.kill(Number(machine.id), 'SIGTERM')
      } catch {
        // It ended in this moment.
      }
      return Promise.resolve(false)
    }
    rmSync(this.#path(name, 'pid'), { force: true })
    return Promise.resolve(true)
  }

  #find(name: string): Machine | undefined {
    const path = this.#path(name, 'pid')
    let text: string
    let launchedAt: number
    try {
      text = readFileSync(path, 'utf8').trim()
      launchedAt = Math.min(statSync(path).mtimeMs, this.#options.now())
    } catch {
      return undefined
    }
    const space = text.indexOf(' ')
    const pid = Number(text.slice(0, space))
    const state = isProcess(pid, text.slice(space + 1)) ? 'running' : 'gone'
    return { name, id: String(pid), state, launchedAt }
  }

  #path(name: string, ending: string): string {
    return join(this.#options.folder, `${name}.${ending}`)
  }

  #readLog(name: string): string {
    try {
      return readFileSync(this.#path(name, 'log')).subarray(0, LOG_BYTES_READ_MAX).toString('utf8')
    } catch {
      return ''
    }
  }

  #lastLine(name: string): string {
    return this.#readLog(name).trimEnd().split('\n').at(-1) ?? ''
  }
}
