/**
 * Every process and folder of a run in one list, so that all of them are gone when it ends: by itself, by an error or by
 * Ctrl-C. Processes are ended by their own id only.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const LAST_WORDS_MAX = 2000
const LOOK_MS = 20

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** Resolves when it has ended, with what it said last. */
  readonly ended: Promise<string>
  isRunning(): boolean
  stdout(): string
}

export class Processes {
  readonly #running = new Map<ChildProcess, Promise<string>>()
  readonly #folders: string[] = []
  #closed = false
  readonly #onExit = (): void => this.#killAll()

  constructor() {
    process.once('exit', this.#onExit)
  }

  /** A child whose output is kept, with a channel if it is to end with this process. */
  start(program: string, args: readonly string[], env: Record<string, string> = {}): Started {
    if (this.#closed) throw new Error('the run is over')
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...env },
      // Ctrl-C is for the run, which ends its processes itself.
      detached: true
    })
    let [stdout, stderr, running] = ['', '', true]
    const keep = (text: string, bytes: Buffer): string =>
      (text + bytes.toString()).slice(-LAST_WORDS_MAX)
    child.stdout?.on('data', (bytes: Buffer) => (stdout = keep(stdout, bytes)))
    child.stderr?.on('data', (bytes: Buffer) => (stderr = keep(stderr, bytes)))
    const ended = new Promise<string>((resolve) => {
      const end = (how: string): void => {
        running = false
        this.#running.delete(child)
        resolve(`${how} ${stderr.trim().split('\n').at(-1) ?? ''}`.trim())
      }
      child.once('error', (error) => end(error.message))
      child.once('close', (code, signal) => end(signal ?? `exit code ${code ?? 'unknown'}`))
    })
    this.#running.set(child, ended)
    // A program that does not know the channel is not held by it.
    child.channel?.unref()
    return { child, pid: child.pid ?? -1, ended, isRunning: () => running, stdout: () => stdout }
  }

  createFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'opencluster-bench-'))
    this.#folders.push(folder)
    return folder
  }

  async stop({ child, ended }: Started): Promise<void> {
    if (this.#running.has(child)) child.kill('SIGKILL')
    await ended
  }

  /** Nothing can be started any more. */
  async close(): Promise<void> {
    const gone = [...this.#running.values()]
    this.#killAll()
    await Promise.all(gone)
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true })
    process.removeListener('exit', this.#onExit)
  }

  #killAll(): void {
    this.#closed = true
    for (const child of this.#running.keys()) child.kill('SIGKILL')
  }
}

/** Runs a program to its end and gives what it wrote; rejects if it failed or took too long. */
export async function runProgram(
  processes: Processes,
  [program, ...args]: readonly [string, ...string[]],
  timeoutMs: number
): Promise<string> {
  const started = processes.start(program, args)
  const pieces: Buffer[] = []
  started.child.stdout?.on('data', (bytes: Buffer) => pieces.push(bytes))
  const timer = setTimeout(() => started.child.kill('SIGKILL'), timeoutMs)
  const how = await started.ended
  clearTimeout(timer)
  const text = Buffer.concat(pieces).toString()
  if (!how.startsWith('exit code 0')) {
    throw new Error(`${program}: ${how} ${text.trim().split('\n').at(-1) ?? ''}`)
  }
  return text
}

export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 20_000
): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`waited ${timeoutMs} ms for: ${what}`)
    await sleep(LOOK_MS)
  }
}

/** With `alsoFree`, one for which that other port is free too. */
export async function findFreePort(alsoFree?: (port: number) => number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = await openPort(0)
    const other = alsoFree?.(port)
    if (other === undefined) return port
    if (other < 65_536 && (await openPort(other).catch(() => 0)) !== 0) return port
  }
  throw new Error('no free port')
}

function openPort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(wanted, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('no port'))
      })
    })
  })
}
