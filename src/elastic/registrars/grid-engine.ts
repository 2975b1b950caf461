/**
 * Hosts of Grid Engine, by `qconf` and `qmod` as its own installer uses them. Each command was tried twice on a real
 * cell: the second time it says that nothing was to do, and those sentences are no failures. `qconf -de` refuses to
 * delete a host that runs a job, which is the last lock before a machine ends.
 */
import { describeExit } from '../external-command.js'
import type { Place } from '../place.js'
import { parseQueue } from '../sources/grid-engine-queue.js'
import type { HostRequest, Registrar } from './registrar.js'

export interface GridEngineRegistrarOptions {
  readonly place: Place
  readonly queue: string
  readonly hostGroup: string
  readonly slots: number
  readonly timeoutMs: number
}

const ALREADY = /already exists|already in the specified state/
/** What is in no queue gets no jobs either. */
const CLOSED = /already in the specified state|invalid queue/
const ABSENT = /does not exist|not found|is not an execution host|unknown execd host|invalid queue/

export class GridEngineRegistrar implements Registrar {
  readonly label: string
  readonly #options: GridEngineRegistrarOptions

  constructor(options: GridEngineRegistrarOptions) {
    this.#options = options
    this.label = `Grid Engine (${options.place.label})`
  }

  async register({ name }: HostRequest, signal: AbortSignal): Promise<void> {
    const { queue, hostGroup, slots } = this.#options
    const lists = ['load_scaling', 'complex_values', 'user_lists', 'xuser_lists']
    const more = ['projects', 'xprojects', 'usage_scaling', 'report_variables']
    const text = [`hostname ${name}`, ...[...lists, ...more].map((key) => `${key} NONE`), '']
    const script = 'f=$(mktemp) && cat > "$f" && qconf -Ae "$f"; r=$?; rm -f "$f"; exit $r'
    await this.#run(['qconf', '-ah', name], signal, ALREADY)
    await this.#run(['qconf', '-as', name], signal, ALREADY)
    await this.#run(['sh', '-c', script], signal, ALREADY, text.join('\n'))
    // The slots come before the membership, or a job could see the queue's own number of slots.
    await this.#run(['qconf', '-aattr', 'queue', 'slots', `[${name}=${slots}]`, queue], signal)
    await this.#run(['qconf', '-aattr', 'hostgroup', 'hostlist', name, hostGroup], signal, ALREADY)
  }

  async checkJoined({ name }: HostRequest, signal: AbortSignal): Promise<boolean> {
    const { queue } = this.#options
    const { instances } = await this.#look(name, signal)
    return instances.some((one) => one.queue === queue && one.state === 'ready')
  }

  async close({ name }: HostRequest, signal: AbortSignal): Promise<void> {
    await this.#run(['qmod', '-d', `*@${name}`], signal, CLOSED)
  }

  async open({ name }: HostRequest, signal: AbortSignal): Promise<void> {
    await this.#run(['qmod', '-e', `*@${name}`], signal, ALREADY)
  }

  async countJobs({ name }: HostRequest, signal: AbortSignal): Promise<number> {
    const { instances, running } = await this.#look(name, signal)
    const used = instances.reduce((sum, instance) => sum + instance.used, 0)
    return Math.max(running.length, used)
  }

  async deregister({ name, isDead }: HostRequest, signal: AbortSignal): Promise<void> {
    const { queue, hostGroup } = this.#options
    if (isDead) await this.#releaseLostJobs(name, signal)
    const leave = ['qconf', '-dattr', 'hostgroup', 'hostlist', name, hostGroup]
    await this.#run(leave, signal, ABSENT)
    await this.#run(['qconf', '-purge', 'queue', 'slots', `${queue}@${name}`], signal, ABSENT)
    await this.#run(['qconf', '-ke', name], signal, /./)
    await this.#run(['qconf', '-de', name], signal, ABSENT)
    await this.#run(['qconf', '-ds', name], signal, ABSENT)
    await this.#run(['qconf', '-dh', name], signal, ABSENT)
    await this.#run(['qconf', '-dconf', name], signal, ABSENT)
  }

  /** The machine is gone, and with it what ran there: what may run again does, the rest is struck off the list. */
  async #releaseLostJobs(name: string, signal: AbortSignal): Promise<void> {
    const listed = async (): Promise<string[]> =>
      (await this.#look(name, signal)).running.map(({ id }) => id)
    const lost = await listed()
    if (lost.length === 0) return
    await this.#run(['qmod', '-f', '-rj', ...lost], signal, /./)
    const left = await listed()
    if (left.length > 0) await this.#run(['qdel', '-f', ...left], signal, /./)
  }

  /** What is on one host; a host that no queue has is empty. */
  async #look(
    name: string,
    signal: AbortSignal
  ): Promise<Pick<ReturnType<typeof parseQueue>, 'instances' | 'running'>> {
    const { place, timeoutMs } = this.#options
    const argv = ['qstat', '-f', '-u', '*', '-q', `*@${name}`, '-xml']
    const result = await place.run(argv, { timeoutMs, signal, env: { TZ: 'UTC' } })
    if (result.code === 0) return parseQueue(result.stdout)
    // Grid Engine says nothing at all then; a silent failure of another kind would say something.
    if (result.code === 1 && `${result.stdout}${result.stderr}`.trim() === '') {
      return { instances: [], running: [] }
    }
    throw describeExit(argv, result)
  }

  async #run(
    argv: readonly string[],
    signal: AbortSignal,
    harmless?: RegExp,
    input?: string
  ): Promise<void> {
    const { place, timeoutMs } = this.#options
    const options = input === undefined ? {} : { input }
    const result = await place.run(argv, { timeoutMs, signal, ...options })
    if (result.code === 0) return
    if (harmless?.test(`${result.stdout} ${result.stderr}`) === true) return
    throw describeExit(argv, result)
  }
}
