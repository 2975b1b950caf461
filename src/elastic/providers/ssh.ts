/**
 * A pool of machines that are there anyway: to launch one is to claim it and to run a command on it over ssh, to end it
 * is to run another and to give the claim back. The claim is a folder on the machine itself, which only one can make, so
 * that two clusters that share a pool do not share a machine, and a lost state file is found again.
 */
import { describeExit } from '../external-command.js'
import { createSshPlace, type Place, type SshOptions } from '../place.js'
import { CapacityError, type Machine, type MachineRequest, type Provider } from './provider.js'

export interface PoolMachine {
  /** The name its host will have. */
  readonly name: string
  readonly ssh: SshOptions
  /** How the other hosts reach it, if not by the name of the ssh target. */
  readonly address?: string | undefined
}

export interface SshProviderOptions {
  readonly cluster: string
  readonly pool: readonly PoolMachine[]
  /** Shell commands that run there; each must bear to be run twice. */
  readonly prepare?: string | undefined
  readonly release?: string | undefined
  readonly claimFolder: string
  readonly timeoutMs: number
  readonly now: () => number
}

const REFUSED_MS = 10 * 60_000
const ASKED_AT_ONCE_MAX = 16
const LIST_TIMEOUT_MS = 20_000

/** `$1` folder, `$2` owner. Prints the owner; only a new claim writes a time. */
const CLAIM_SCRIPT = [
  'if mkdir -m 700 "$1" 2>/dev/null; then date +%s > "$1/since"; echo "$2" > "$1/owner"; fi',
  // Between another one's mkdir and its owner lies a moment, and perhaps its death.
  '[ -s "$1/owner" ] || { sleep 1; [ -s "$1/owner" ] || echo "$2" > "$1/owner"; }',
  'cat "$1/owner" "$1/since"'
].join('\n')
const LOOK_SCRIPT = 'cat "$1/owner" "$1/since" 2>/dev/null || true'
const UNCLAIM_SCRIPT =
  '[ "$(cat "$1/owner" 2>/dev/null)" != "$2" ] || { rm -f "$1/since" "$1/owner"; rmdir "$1"; }'

export class SshProvider implements Provider {
  readonly label = 'ssh'
  readonly #options: SshProviderOptions
  readonly #refused = new Map<string, number>()

  constructor(options: SshProviderOptions) {
    this.#options = options
  }

  listNames(): readonly string[] {
    const since = this.#options.now() - REFUSED_MS
    return this.#options.pool
      .map(({ name }) => name)
      .filter((name) => (this.#refused.get(name) ?? -Infinity) < since)
  }

  async list(signal: AbortSignal): Promise<readonly Machine[]> {
    const waiting = [...this.#options.pool]
    const machines: Machine[] = []
    const ask = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const found = await this.#look(one, signal)
        if (found !== undefined) machines.push(found)
      }
    }
    await Promise.all(Array.from({ length: ASKED_AT_ONCE_MAX }, ask))
    return machines.sort((a, b) => a.name.localeCompare(b.name))
  }

  async launch(request: MachineRequest, signal: AbortSignal): Promise<Machine> {
    const machine = this.#find(request.name)
    const owner = this.#ownerOf(machine.name)
    const answer = await this.#call(machine, CLAIM_SCRIPT, [owner], signal)
    const [found, since] = answer.split('\n')
    if (found !== owner) {
      this.#refused.set(machine.name, this.#options.now())
      throw new CapacityError(`${machine.name} is claimed by ${found}`)
    }
    const { prepare } = this.#options
    if (prepare !== undefined) await this.#call(machine, prepare, [], signal)
    return this.#describe(machine, since)
  }

  async checkReady(request: MachineRequest, signal: AbortSignal): Promise<Machine | undefined> {
    const found = await this.#look(this.#find(request.name), signal)
    return found?.state === 'running' ? found : undefined
  }

  async terminate(request: MachineRequest, signal: AbortSignal): Promise<boolean> {
    const machine = this.#find(request.name)
    const { release } = this.#options
    if (release !== undefined) await this.#call(machine, release, [], signal)
    await this.#call(machine, UNCLAIM_SCRIPT, [this.#ownerOf(machine.name)], signal)
    return true
  }

  placeOf(name: string): Place {
    return createSshPlace(this.#find(name).ssh, {
      OC_CLUSTER: this.#options.cluster,
      OC_HOST: name
    })
  }

  #find(name: string): PoolMachine {
    const machine = this.#options.pool.find((one) => one.name === name)
    if (machine === undefined) throw new Error(`${name} is not in the pool`)
    return machine
  }

  #ownerOf(name: string): string {
    return `${this.#options.cluster}/${name}`
  }

  async #look(machine: PoolMachine, signal: AbortSignal): Promise<Machine | undefined> {
    let answer: string
    try {
      answer = await this.#call(machine, LOOK_SCRIPT, [], signal, LIST_TIMEOUT_MS)
    } catch {
      return { ...this.#describe(machine, undefined), state: 'unknown' }
    }
    const [owner, since] = answer.split('\n')
    return owner === this.#ownerOf(machine.name) ? this.#describe(machine, since) : undefined
  }

  #describe(machine: PoolMachine, since: string | undefined): Machine {
    const { name, ssh, address } = machine
    const seconds = /^\d{9,11}$/.test(since ?? '') ? Number(since) : undefined
    return {
      name,
      id: name,
      state: 'running',
      address: address ?? ssh.target.replace(/^.*@/, ''),
      ...(seconds === undefined ? {} : { launchedAt: seconds * 1000 })
    }
  }

  async #call(
    machine: PoolMachine,
    script: string,
    words: readonly string[],
    signal: AbortSignal,
    timeoutMs = this.#options.timeoutMs
  ): Promise<string> {
    const argv = ['sh', '-c', script, 'sh', this.#options.claimFolder, ...words]
    const result = await this.placeOf(machine.name).run(argv, { timeoutMs, signal })
    if (result.code !== 0)
      throw describeExit([`on ${machine.name}:`, script.split('\n')[0]], result)
    return result.stdout.trim()
  }
}
