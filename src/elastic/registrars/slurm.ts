/**
 * Nodes of Slurm, by `scontrol`. A dynamic node (`slurmd -Z`) registers itself, so there is nothing to do for it but to
 * open one that had been drained before; a node of slurm.conf is opened and closed and never deleted. `scontrol delete`
 * refuses while a job is there, which is the last lock before a machine ends.
 */
import { describeExit, type CommandResult } from '../external-command.js'
import type { Place } from '../place.js'
import { FactsError } from '../sources/facts-error.js'
import { parseJobs, parseNodes } from '../sources/slurm-answer.js'
import type { HostFacts } from '../../core/scaling/facts.js'
import type { HostRequest, Registrar } from './registrar.js'

export interface SlurmRegistrarOptions {
  readonly place: Place
  readonly timeoutMs: number
}

const REASON = 'opencluster: scale-in'
const ABSENT = /Invalid node name|not found|does not exist/i
const NOT_DYNAMIC = /not.*dynamic|Invalid node state|can only be deleted/i

export class SlurmRegistrar implements Registrar {
  readonly label: string
  readonly #options: SlurmRegistrarOptions

  constructor(options: SlurmRegistrarOptions) {
    this.#options = options
    this.label = `Slurm (${options.place.label})`
  }

  async register({ name }: HostRequest, signal: AbortSignal): Promise<void> {
    const host = await this.#find(name, signal)
    if (host !== undefined && host.state !== 'ready') await this.#resume(name, signal)
  }

  async checkJoined({ name }: HostRequest, signal: AbortSignal): Promise<boolean> {
    const host = await this.#find(name, signal)
    // It may have come back under the name of one that was drained or given up.
    if (host?.state === 'disabled') await this.#resume(name, signal)
    return host?.state === 'ready'
  }

  async close({ name }: HostRequest, signal: AbortSignal): Promise<void> {
    if ((await this.#find(name, signal)) === undefined) return
    await this.#update(name, ['state=drain', `reason=${REASON}`], signal)
  }

  async open({ name }: HostRequest, signal: AbortSignal): Promise<void> {
    await this.#resume(name, signal)
  }

  async countJobs({ name }: HostRequest, signal: AbortSignal): Promise<number> {
    const { jobs } = parseJobs(await this.#run(['squeue', '--json'], signal))
    const here = jobs.filter(({ hosts }) => hosts?.some(({ host }) => host === name) === true)
    const host = await this.#find(name, signal)
    return Math.max(here.length, host?.used ?? 0)
  }

  async deregister({ name, isDead }: HostRequest, signal: AbortSignal): Promise<void> {
    if ((await this.#find(name, signal)) === undefined) return
    // Slurm gives the jobs of a node that is down back to the queue.
    if (isDead) await this.#update(name, ['state=down', `reason=${REASON}`], signal)
    const argv = ['scontrol', 'delete', `nodename=${name}`]
    const result = await this.#call(argv, signal)
    const said = `${result.stdout} ${result.stderr}`
    if (result.code === 0 || ABSENT.test(said) || NOT_DYNAMIC.test(said)) return
    throw describeExit(argv, result)
  }

  async #find(name: string, signal: AbortSignal): Promise<HostFacts | undefined> {
    const text = await this.#run(['sinfo', '--json'], signal)
    return parseNodes(text, undefined).find((host) => host.name === name)
  }

  async #resume(name: string, signal: AbortSignal): Promise<void> {
    await this.#update(name, ['state=resume'], signal, /Invalid node state/)
  }

  async #update(
    name: string,
    words: readonly string[],
    signal: AbortSignal,
    harmless = ABSENT
  ): Promise<void> {
    const argv = ['scontrol', 'update', `nodename=${name}`, ...words]
    const result = await this.#call(argv, signal)
    if (result.code !== 0 && !harmless.test(`${result.stdout} ${result.stderr}`)) {
      throw describeExit(argv, result)
    }
  }

  async #run(argv: readonly string[], signal: AbortSignal): Promise<string> {
    const result = await this.#call(argv, signal)
    if (result.code !== 0) throw describeExit(argv, result)
    if (result.stdout.trim() === '') throw new FactsError(`${argv.join(' ')}: an empty answer`)
    return result.stdout
  }

  #call(argv: readonly string[], signal: AbortSignal): Promise<CommandResult> {
    const { place, timeoutMs } = this.#options
    return place.run(argv, { timeoutMs, signal })
  }
}
