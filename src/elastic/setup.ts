/** Puts the parts together as the settings say: where commands run, who is asked, who launches, who is told. */
import { composeConfig, findBadSetting, type ScalingConfig } from '../core/scaling/config.js'
import { join } from 'node:path'
import { Balancer } from './balancer.js'
import type { HookContext, HookHost, HookPlace } from './hooks.js'
import { createLocalPlace, createSshPlace, type Place } from './place.js'
import { createCommandProvider } from './providers/command.js'
import { Ec2Provider } from './providers/ec2.js'
import { ProcessProvider } from './providers/process.js'
import type { Provider } from './providers/provider.js'
import { SshProvider } from './providers/ssh.js'
import { GridEngineRegistrar } from './registrars/grid-engine.js'
import type { Registrar } from './registrars/registrar.js'
import { SlurmRegistrar } from './registrars/slurm.js'
import type { ElasticSettings } from './settings.js'
import { CommandSource } from './sources/command.js'
import { GridEngineSource } from './sources/grid-engine.js'
import { OpenClusterSource } from './sources/opencluster.js'
import { SlurmSource } from './sources/slurm.js'
import type { Source } from './sources/source.js'
import type { StateStore } from './state-store.js'
import { Work } from './work.js'

export interface SetupOptions {
  readonly cluster: string
  readonly settings: ElasticSettings
  readonly stateFolder: string
  /** For the sockets of ssh; whoever made it takes it away. */
  readonly controlFolder?: string | undefined
  readonly store: StateStore
  /** For the provider `process` without words of its own: a node of the data cluster. */
  readonly nodeArgv: readonly string[]
  /** For the source `opencluster`: the program that prints a cluster's status. */
  readonly statusArgv: readonly string[]
  readonly isDryRun: boolean
  readonly isExplaining: boolean
  readonly now: () => number
  readonly report: (line: string) => void
}

export interface Elastic {
  readonly balancer: Balancer
  readonly work: Work
  readonly config: ScalingConfig
}

const SOURCE_TIMEOUT_MS = 30_000
/** Launching or preparing a machine may take a while. */
const PROVIDER_TIMEOUT_MS = 5 * 60_000
const ACCOUNTING_EVERY_MS = 5 * 60_000
const NODE_READY = /^opencluster ready .*\bresp=(\S+)/m
const CLAIM_FOLDER = '.opencluster-claim'

/** What is missing or contradicts itself in the settings, a sentence each. */
export function findSetupProblems(settings: ElasticSettings): string[] {
  const { source, provider, scheduler, policy } = settings
  const problems: string[] = []
  if (source.kind === undefined) problems.push('source.kind: which scheduler is not said')
  if (source.kind === 'command' && source.command === undefined) {
    problems.push('source.command: the program that prints the facts is missing')
  }
  const { bytesPerNode, itemsPerNode, operationsPerNode } = source
  const loads = [bytesPerNode, itemsPerNode, operationsPerNode]
  if (source.kind === 'opencluster' && !loads.some((load) => load !== undefined && load > 0)) {
    problems.push('source: bytesPerNode, itemsPerNode or operationsPerNode is missing')
  }
  if (provider.kind === undefined) problems.push('provider.kind: who has the machines is not said')
  if (provider.kind === 'command') {
    for (const name of ['add', 'remove'] as const) {
      if (provider.hooks?.[name] === undefined) problems.push(`provider.${name}: is missing`)
    }
  }
  if (provider.kind === 'ssh' && (provider.pool?.length ?? 0) === 0) {
    problems.push('provider.pool: is missing or empty')
  }
  if (
    (scheduler.kind ?? source.kind) === 'sge' &&
    (scheduler.slots ?? policy.template?.slots ?? 0) < 1
  ) {
    problems.push('scheduler.slots: how many slots a new host has is not said')
  }
  const bad = findBadSetting(composeConfig(settings.policyName, policy))
  if (bad !== undefined) problems.push(`policy: ${bad}`)
  return problems
}

export function createElastic(options: SetupOptions): Elastic {
  const { settings, store, now, report, isDryRun, isExplaining } = options
  const master = createMasterPlace(options)
  const { provider, hooks } = createProvider(options, master)
  const source = createSource(options, master)
  const registrar = createRegistrar(settings, master)
  const config = composeConfig(settings.policyName, settings.policy)
  const { steps: stages, settleMs, retryMs, names, pricePerHour } = settings
  const work = new Work({
    store,
    provider,
    registrar,
    stages,
    hooks,
    settleMs,
    retryMs,
    now,
    report
  })
  const balancer = new Balancer({
    source,
    provider,
    registrar,
    store,
    work,
    config,
    names,
    pricePerHour: pricePerHour ?? config.template?.pricePerHour,
    isDryRun,
    isExplaining,
    now,
    report
  })
  return { balancer, work, config }
}

function createMasterPlace({ settings, controlFolder }: SetupOptions): Place {
  const { ssh, env } = settings.source
  return ssh === undefined ? createLocalPlace(env) : createSshPlace({ ...ssh, controlFolder }, env)
}

function createSource({ settings, statusArgv }: SetupOptions, place: Place): Source {
  const { kind, master, ssh, command = [], node, ...source } = settings.source
  const timeoutMs = settings.source.timeoutMs ?? SOURCE_TIMEOUT_MS
  const isRemote = ssh !== undefined
  switch (kind) {
    case 'sge': {
      const accountingEveryMs = settings.source.accountingEveryMs ?? ACCOUNTING_EVERY_MS
      return new GridEngineSource({ place, master, timeoutMs, accountingEveryMs, isRemote })
    }
    case 'slurm':
      return new SlurmSource({ place, master, timeoutMs, isRemote })
    case 'opencluster': {
      const argv = node === undefined ? statusArgv : [...statusArgv, '--node', node]
      const { bytesPerNode, itemsPerNode, operationsPerNode } = source
      const loads = { bytesPerNode, itemsPerNode, operationsPerNode }
      return new OpenClusterSource({ place, argv, timeoutMs, ...loads })
    }
    default:
      return new CommandSource({ place, argv: command, timeoutMs })
  }
}

function createProvider(
  options: SetupOptions,
  master: Place
): { provider: Provider; hooks: HookContext } {
  const { cluster, settings, stateFolder, controlFolder, nodeArgv, now } = options
  const { kind, hooks: given, argv, readyPattern, prepare, release } = settings.provider
  const pool = (settings.provider.pool ?? []).map((one) => ({
    ...one,
    ssh: { ...one.ssh, controlFolder }
  }))
  const timeoutMs = settings.provider.timeoutMs ?? PROVIDER_TIMEOUT_MS
  const here = createLocalPlace()
  const placeOfHost = (host: HookHost | undefined): Place => {
    if (host === undefined) throw new Error('a hook on the host, but there is none')
    const known = pool.find(({ name }) => name === host.name)
    const { user, ...ssh } = settings.hostSsh
    const address = host.address ?? host.name
    const target = user === undefined ? address : `${user}@${address}`
    return createSshPlace(known?.ssh ?? { ...ssh, target, controlFolder })
  }
  const placeOf = (on: HookPlace, host: HookHost | undefined): Place =>
    on === 'here' ? here : on === 'master' ? master : placeOfHost(host)
  const hooks = { placeOf, cluster, timeoutMs }
  if (kind === 'ssh') {
    const claimFolder = settings.provider.claimFolder ?? CLAIM_FOLDER
    const ssh = { cluster, pool, prepare, release, claimFolder, timeoutMs, now }
    return { provider: new SshProvider(ssh), hooks }
  }
  if (kind === 'command') {
    const { add = [], remove = [] } = given ?? {}
    return { provider: createCommandProvider({ ...given, add, remove }, hooks), hooks }
  }
  if (kind === 'ec2') {
    const { ec2 = {} } = settings.provider
    return { provider: new Ec2Provider({ cluster, settings: ec2, timeoutMs }), hooks }
  }
  const pattern = readyPattern === undefined ? undefined : new RegExp(readyPattern, 'm')
  const provider = new ProcessProvider({
    folder: join(stateFolder, 'processes'),
    argv: argv ?? nodeArgv,
    readyPattern: argv === undefined ? NODE_READY : pattern,
    env: { OC_CLUSTER: cluster },
    now
  })
  return { provider, hooks }
}

function createRegistrar(settings: ElasticSettings, place: Place): Registrar | undefined {
  const { source, scheduler, policy } = settings
  const timeoutMs = source.timeoutMs ?? SOURCE_TIMEOUT_MS
  const kind = scheduler.kind ?? source.kind
  if (kind === 'slurm') return new SlurmRegistrar({ place, timeoutMs })
  if (kind !== 'sge') return undefined
  return new GridEngineRegistrar({
    place,
    queue: scheduler.queue ?? 'all.q',
    hostGroup: scheduler.hostGroup ?? '@allhosts',
    slots: scheduler.slots ?? policy.template?.slots ?? 1,
    timeoutMs
  })
}
