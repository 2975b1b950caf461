/**
 * Runs one external program and never waits for ever: every call has a time limit and an output limit, and both end
 * the program with all of its children. A hook may leave a daemon behind that still holds the pipes, so the end is
 * the exit of the program itself, not the end of its output.
 */
import { spawn } from 'node:child_process'

export interface CommandLimits {
  readonly timeoutMs: number
  readonly outputBytesMax: number
}

export interface CommandOptions extends Partial<CommandLimits> {
  readonly env?: Readonly<Record<string, string>>
  /** What it reads on stdin; nothing if not given. */
  readonly input?: string
  readonly cwd?: string
  readonly signal?: AbortSignal | undefined
}

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

type FailureKind = 'missing' | 'timeout' | 'too-long' | 'killed' | 'stopped' | 'exit'

/** One line that says which program failed and how. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly kind: FailureKind
  readonly result: CommandResult | undefined

  constructor(kind: FailureKind, message: string, result?: CommandResult) {
    super(message)
    this.kind = kind
    this.result = result
  }
}

export const COMMAND_LIMITS: CommandLimits = {
  timeoutMs: 30_000,
  // 10,000 jobs of Grid Engine with their reasons are about 45 MB of XML.
  outputBytesMax: 128 * 1024 * 1024
}

/** Asked to end, a program gets so long before it is killed. */
const GRACE_MS = 2000
/** After the exit, what is still in the pipes arrives within this, or belongs to a daemon. */
const DRAIN_MS = 200
const SHOWN_CHARACTERS_MAX = 300

/** Runs it to its end, whatever its exit code. */
export function runCommand(
  argv: readonly string[],
  options: CommandOptions = {}
): Promise<CommandResult> {
  const { timeoutMs, outputBytesMax } = { ...COMMAND_LIMITS, ...options }
  const label = describeCommand(argv)
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted === true) {
      reject(new CommandFailure('stopped', `${label}: not started, the balancer is stopping`))
      return
    }
    // A group of its own, so that its children can be ended with it, and so that Ctrl-C reaches only the balancer.
    const child = spawn(argv[0], argv.slice(1), {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true
    })
    const pieces: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] }
    let bytes = 0
    let failure: CommandFailure | undefined
    const endGroup = (reason: CommandFailure): void => {
      if (failure !== undefined) return
      failure = reason
      killGroup(child.pid, 'SIGTERM')
      setTimeout(() => killGroup(child.pid, 'SIGKILL'), GRACE_MS).unref()
    }
    const timer = setTimeout(() => {
      endGroup(new CommandFailure('timeout', `${label}: no answer within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    const onAbort = (): void => endGroup(new CommandFailure('stopped', `${label}: stopped`))
    options.signal?.addEventListener('abort', onAbort, { once: true })
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes <= outputBytesMax) pieces[name].push(piece)
        else {
          const text = `${label}: more than ${outputBytesMax} bytes of output`
          endGroup(new CommandFailure('too-long', text))
        }
      })
    }
    // A program that does not read its input closes the pipe, which is its good right.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
    let settled = false
    const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
      child.stdout.destroy()
      child.stderr.destroy()
      const read = (name: 'stdout' | 'stderr'): string =>
        Buffer.concat(pieces[name]).toString('utf8')
      const result = { code: code ?? -1, stdout: read('stdout'), stderr: read('stderr') }
      if (failure !== undefined) reject(failure)
      else if (code !== null) resolve(result)
      else
        reject(new CommandFailure('killed', `${label}: ended by ${signal ?? 'a signal'}`, result))
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
      const text = error.code === 'ENOENT' ? 'no such program' : error.message
      reject(new CommandFailure('missing', `${label}: ${text}`))
    })
    child.once('close', settle)
    child.once('exit', (code, signal) => setTimeout(() => settle(code, signal), DRAIN_MS))
  })
}

/** Runs it and takes any exit code but 0 for a failure. */
export async function runSuccessfully(
  argv: readonly string[],
  options: CommandOptions = {}
): Promise<CommandResult> {
  const result = await runCommand(argv, options)
  if (result.code === 0) return result
  throw describeExit(argv, result)
}

export function describeExit(argv: readonly string[], result: CommandResult): CommandFailure {
  const said = summarize(result.stderr) || summarize(result.stdout) || 'it said nothing'
  const text = `${describeCommand(argv)}: exit code ${result.code}: ${said}`
  return new CommandFailure('exit', text, result)
}

/** The first lines of what a program said, as one line. */
export function summarize(text: string): string {
  // Control characters of a foreign program have no business on the user's terminal.
  const line = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
  return line.length > SHOWN_CHARACTERS_MAX ? `${line.slice(0, SHOWN_CHARACTERS_MAX)}…` : line
}

function describeCommand(argv: readonly string[]): string {
  const text = summarize(argv.join(' '))
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // It is gone already.
  }
}
