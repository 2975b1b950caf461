/**
 * The generator as the run sees it: a process of its own, kept from row to row so that its code is compiled, and started
 * anew if it died. That it is not the bottleneck is not assumed: every result carries the parts of a processor that it and
 * the servers used, and a row whose servers were idle while the generator was not says so.
 */
import { fileURLToPath } from 'node:url'
import type { Job, LoadResult } from './job.js'
import type { Processes, Started } from './processes.js'

const PROGRAM = fileURLToPath(new URL('./generator-main.js', import.meta.url))
/** Beyond what the job itself takes. */
const GRACE_MS = 60_000
const FILL_MS_MAX = 300_000

type Answer = { readonly result: LoadResult } | { readonly error: string }

export class Generator {
  readonly #processes: Processes
  #started: Started | undefined

  constructor(processes: Processes) {
    this.#processes = processes
  }

  async run(job: Job): Promise<LoadResult> {
    if (this.#started?.isRunning() !== true) {
      this.#started = this.#processes.start(process.execPath, [PROGRAM])
    }
    const { child, ended } = this.#started
    const timeoutMs =
      (job.eachOnce === true ? FILL_MS_MAX : job.warmupMs + job.durationMs) + GRACE_MS
    let timer: NodeJS.Timeout | undefined
    let onMessage: (answer: Answer) => void = () => undefined
    try {
      const answer = await Promise.race([
        new Promise<Answer>((resolve) => {
          onMessage = resolve
          child.once('message', onMessage)
          child.send(job)
        }),
        ended.then((how): Answer => ({ error: `the generator ended: ${how}` })),
        new Promise<Answer>((resolve) => {
          timer = setTimeout(() => {
            child.kill('SIGKILL')
            resolve({ error: `not done after ${timeoutMs} ms` })
          }, timeoutMs)
        })
      ])
      if ('error' in answer) throw new Error(answer.error)
      return answer.result
    } finally {
      clearTimeout(timer)
      child.removeListener('message', onMessage)
    }
  }
}

/** Every key once, quickly. */
export function fillJob(
  target: Pick<Job, 'ports' | 'protocol' | 'pids'>,
  keys: Pick<Job, 'keys' | 'valueBytes'> & Partial<Pick<Job, 'from' | 'mix'>>
): Job {
  const pipeline = target.protocol === 'http' ? 1 : keys.valueBytes > 1024 ? 8 : 64
  const times = { warmupMs: 0, durationMs: 0, eachOnce: true }
  const { protocol, pids, ports } = target
  return { protocol, pids, ports, mix: 'set', connections: 20, pipeline, ...times, ...keys }
}
