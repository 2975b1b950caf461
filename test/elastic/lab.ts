/**
 * What every test on a real scheduler has: a cell that is started before and ended after, a balancer that runs as a user
 * runs it, jobs that end when the test says so, and waiting that shows what the balancer said when it is in vain.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { BalancerProcess } from './balancer-process.js'
import { until, type Network } from './namespaces.js'

/** A scheduler in namespaces. */
export interface Cell {
  readonly network: Network
  readonly folder: string
  /** Programs that run where the master is. */
  readonly programs: string
  start(): Promise<void>
  end(): Promise<void>
  submit(...words: string[]): string
  /** The host of each running task. */
  runningOn(): string[]
  isQueueEmpty(): boolean
}

const HOOK_MS_MAX = 120_000
const CLUSTER = 'lab'

export class Lab<C extends Cell> {
  readonly cell: C
  #balancer: BalancerProcess | undefined

  constructor(cell: C) {
    this.cell = cell
  }

  get output(): string {
    return this.#balancer?.output ?? ''
  }

  /** Starts a balancer on these settings. The state folder is the same for all but those that ask for another. */
  start(settings: object, options: { state?: string; enter?: readonly string[] } = {}): void {
    const { folder } = this.cell
    const config = join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ elastic: { [CLUSTER]: settings } }))
    const state = join(folder, options.state ?? 'state')
    const args = [CLUSTER, '--config', config, '--state-dir', state, '--dump-stats']
    this.#balancer = new BalancerProcess(args, options.enter)
  }

  /** As when its machine loses power. */
  async kill(): Promise<void> {
    await this.#balancer?.kill()
  }

  async until(what: string, condition: () => boolean, limitMs?: number): Promise<void> {
    await until(() => `${what}:\n${this.output}`, condition, limitMs)
  }

  async untilSaid(text: string, limitMs?: number): Promise<void> {
    await this.until(text, () => this.output.includes(text), limitMs)
  }

  async untilRunning(tasks: number, limitMs?: number): Promise<readonly string[]> {
    await this.until(`${tasks} running`, () => this.cell.runningOn().length === tasks, limitMs)
    return this.cell.runningOn()
  }

  async untilMachines(count: number, limitMs?: number): Promise<void> {
    const { network } = this.cell
    await this.until(`${count} machines`, () => network.machines().length === count, limitMs)
  }

  /** A script that runs until the test ends the jobs of that name. */
  writeWaiting(name: string): string {
    const script = join(this.cell.folder, `wait-${name}.sh`)
    const text = `#!/bin/sh\nuntil [ -e ${this.#endOf(name)} ]; do sleep 0.2; done\n`
    writeFileSync(script, text, { mode: 0o755 })
    return script
  }

  /** A job that ends when the test says so. */
  submitWaiting(name: string, ...words: string[]): string {
    return this.cell.submit(...words, this.writeWaiting(name))
  }

  async endJobs(name: string): Promise<void> {
    writeFileSync(this.#endOf(name), '')
    await this.until(`the jobs ${name} to end`, () => {
      const { cell } = this
      return cell.isQueueEmpty()
    })
  }

  letEnd(name: string): void {
    writeFileSync(this.#endOf(name), '')
  }

  #endOf(name: string): string {
    return join(this.cell.folder, `end-${name}`)
  }
}

/** One cell for all tests of a file. */
export function useLab<C extends Cell>(create: () => C): () => Lab<C> {
  let lab: Lab<C> | undefined
  beforeAll(async () => {
    lab = new Lab(create())
    await lab.cell.start()
  }, HOOK_MS_MAX)
  afterEach(() => lab?.kill())
  afterAll(() => lab?.cell.end(), HOOK_MS_MAX)
  return () => {
    if (lab === undefined) throw new Error('the cell is not there yet')
    return lab
  }
}

/** The machines of a network as a provider of hooks, and their names in every hosts file. */
export function describeMachines({ network, folder }: Cell, daemon: string): object {
  const library = join(folder, 'machines.sh')
  writeFileSync(library, network.script)
  const hook = (text: string): string => `. ${library}; ${text}`
  const address = 'echo "{\\"address\\":\\"$(address_of "$OC_HOST")\\"}"'
  return {
    provider: {
      kind: 'command',
      add: hook(`machine_up "$OC_HOST" && ${address}`),
      wait: hook('on "$OC_HOST" true'),
      remove: hook('machine_down "$OC_HOST"'),
      list: hook(
        'machines | sed \'s/.*/{"name":"&","id":"&"}/\' | paste -sd, | sed "s/^/[/;s/$/]/"'
      )
    },
    steps: {
      hosts: hook('hosts_add "$OC_HOST"'),
      unhosts: hook('hosts_remove "$OC_HOST"'),
      // One is enough, and a hook may be run again.
      daemon: hook(`[ -n "$(ip netns pids "$OC_HOST")" ] || { ${daemon}; }`)
    },
    names: { prefix: network.prefix }
  }
}

/** Minutes as seconds. */
export const SHORT_CLOCKS = {
  settleMs: 1500,
  retryMs: 1000,
  progressMs: 300,
  pricePerHour: 0.5
} as const

export const SHORT_POLICY = {
  intervalMs: 1000,
  hostsMax: 4,
  addPerPass: 2,
  jobWaitMs: 2000,
  billing: { kind: 'second', idleMs: 3000 },
  cooldownDownMs: 1000,
  deadAfterMs: 3000,
  // A busy test machine is slow, and nothing here is about hosts that never come up.
  bootTimeoutMs: 300_000,
  bootBackOff: { firstMs: 1000, mostMs: 2000 },
  bootMs: 5000,
  forecast: false
} as const
