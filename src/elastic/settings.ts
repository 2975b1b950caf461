/**
 * The settings of one elastic cluster out of the configuration file: `elastic` holds an object a cluster. Everything
 * that is wrong is said at once, each with its place; a key that is not known is wrong, because a misspelt limit would
 * be no limit.
 */
import type { PolicyName, ScalingConfig } from '../core/scaling/config.js'
import { HOOK_PLACES, type Hook, type HookPlace } from './hooks.js'
import type { SshOptions } from './place.js'
import { readPolicySettings } from './policy-settings.js'
import type { CommandHooks } from './providers/command.js'
import type { Ec2Settings } from './providers/ec2.js'
import type { PoolMachine } from './providers/ssh.js'
import { STAGE_NAMES, type Stages } from './work.js'

export const SOURCE_KINDS = ['sge', 'slurm', 'command', 'opencluster'] as const
export const PROVIDER_KINDS = ['process', 'command', 'ssh', 'ec2'] as const
export const SCHEDULER_KINDS = ['sge', 'slurm', 'none'] as const

export interface SourceSettings {
  readonly kind?: (typeof SOURCE_KINDS)[number]
  readonly command?: readonly string[]
  readonly ssh?: SshOptions
  readonly env?: Readonly<Record<string, string>>
  readonly master?: string
  readonly timeoutMs?: number
  readonly accountingEveryMs?: number
  /** For `opencluster`: a node to ask, and how much one node is to hold. */
  readonly node?: string
  readonly bytesPerNode?: number
  readonly itemsPerNode?: number
  /** A second. */
  readonly operationsPerNode?: number
}

export interface ProviderSettings {
  readonly kind?: (typeof PROVIDER_KINDS)[number]
  readonly hooks?: Partial<CommandHooks>
  readonly argv?: readonly string[]
  readonly readyPattern?: string
  readonly pool?: readonly PoolMachine[]
  readonly prepare?: string
  readonly release?: string
  readonly claimFolder?: string
  readonly timeoutMs?: number
  readonly ec2?: Ec2Settings
}

export interface SchedulerSettings {
  readonly kind?: (typeof SCHEDULER_KINDS)[number]
  readonly queue?: string
  readonly hostGroup?: string
  readonly slots?: number
}

export interface ElasticSettings {
  readonly source: SourceSettings
  readonly provider: ProviderSettings
  readonly scheduler: SchedulerSettings
  readonly steps: Stages
  /** How hooks with `on: "host"` reach it: everything but the target. */
  readonly hostSsh: Omit<SshOptions, 'target'> & { readonly user?: string }
  readonly names: { readonly prefix: string; readonly digits: number }
  readonly pricePerHour: number | undefined
  readonly settleMs: number
  readonly retryMs: number
  readonly progressMs: number
  readonly policyName: PolicyName
  readonly policy: Partial<ScalingConfig>
  /** Flags of `loadbalance` by name; the ones on the command line win. */
  readonly options: Readonly<Record<string, unknown>>
}

export class SettingsReader {
  readonly problems: string[] = []

  read(value: unknown, where: string): ElasticSettings {
    const all = this.#object(value, where, [
      'source',
      'provider',
      'scheduler',
      'steps',
      'hostSsh',
      'names',
      'pricePerHour',
      'settleMs',
      'retryMs',
      'progressMs',
      'policy',
      'options'
    ])
    const names = this.#object(all['names'], `${where}.names`, ['prefix', 'digits'])
    const hostSsh = this.#object(all['hostSsh'], `${where}.hostSsh`, [...SSH_KEYS, 'user'])
    const user = this.#text(hostSsh['user'], `${where}.hostSsh.user`)
    const { port, identityFile, options } =
      this.#ssh({ ...hostSsh, user: undefined, target: 'host' }, `${where}.hostSsh`) ?? {}
    return {
      source: this.#source(all['source'], `${where}.source`),
      provider: this.#provider(all['provider'], `${where}.provider`),
      scheduler: this.#scheduler(all['scheduler'], `${where}.scheduler`),
      steps: this.#hooks(all['steps'], `${where}.steps`, STAGE_NAMES),
      hostSsh: compact({ port, identityFile, options, user }),
      names: {
        prefix: this.#text(names['prefix'], `${where}.names.prefix`, HOST_PREFIX) ?? 'node',
        digits: this.#number(names['digits'], `${where}.names.digits`, 9) ?? 3
      },
      pricePerHour: this.#number(all['pricePerHour'], `${where}.pricePerHour`),
      settleMs: this.#number(all['settleMs'], `${where}.settleMs`, DAY_MS) ?? 5000,
      retryMs: this.#number(all['retryMs'], `${where}.retryMs`, DAY_MS) ?? 15_000,
      progressMs: this.#number(all['progressMs'], `${where}.progressMs`, DAY_MS) ?? 3000,
      policyName: 'default',
      policy: readPolicySettings(all['policy'], `${where}.policy`, (problem) =>
        this.problems.push(problem)
      ),
      options: isObject(all['options']) ? all['options'] : this.#object(all['options'], where, [])
    }
  }

  #source(value: unknown, where: string): SourceSettings {
    const keys = ['kind', 'command', 'ssh', 'env', 'master', 'timeoutMs', 'accountingEveryMs']
    const loads = ['bytesPerNode', 'itemsPerNode', 'operationsPerNode'] as const
    const source = this.#object(value, where, [...keys, 'node', ...loads])
    const load = Object.fromEntries(
      loads.map((name) => [name, this.#number(source[name], `${where}.${name}`)])
    )
    const env = source['env'] === undefined ? undefined : this.#texts(source['env'], `${where}.env`)
    return compact({
      kind: this.#choice(source['kind'], `${where}.kind`, SOURCE_KINDS),
      command: this.#words(source['command'], `${where}.command`),
      ssh: this.#ssh(source['ssh'], `${where}.ssh`),
      env,
      master: this.#text(source['master'], `${where}.master`),
      timeoutMs: this.#number(source['timeoutMs'], `${where}.timeoutMs`, DAY_MS),
      accountingEveryMs: this.#number(source['accountingEveryMs'], `${where}.accountingEveryMs`),
      node: this.#text(source['node'], `${where}.node`),
      ...load
    })
  }

  #provider(value: unknown, where: string): ProviderSettings {
    const hookNames = ['add', 'wait', 'remove', 'list', 'stop', 'start', 'shutdown'] as const
    const keys = ['kind', 'argv', 'readyPattern', 'pool', 'prepare', 'release', 'claimFolder']
    const known = [...keys, 'timeoutMs', ...hookNames, ...EC2_KEYS]
    const provider = this.#object(value, where, known)
    const given = Object.fromEntries(hookNames.map((name) => [name, provider[name]]))
    const pattern = this.#text(provider['readyPattern'], `${where}.readyPattern`)
    try {
      if (pattern !== undefined) new RegExp(pattern)
    } catch {
      this.problems.push(`${where}.readyPattern: no regular expression`)
    }
    return compact({
      kind: this.#choice(provider['kind'], `${where}.kind`, PROVIDER_KINDS),
      hooks: this.#hooks(given, where, hookNames),
      argv: this.#words(provider['argv'], `${where}.argv`),
      readyPattern: pattern,
      pool: this.#pool(provider['pool'], `${where}.pool`),
      prepare: this.#text(provider['prepare'], `${where}.prepare`),
      release: this.#text(provider['release'], `${where}.release`),
      claimFolder: this.#text(provider['claimFolder'], `${where}.claimFolder`),
      timeoutMs: this.#number(provider['timeoutMs'], `${where}.timeoutMs`, DAY_MS),
      ec2: provider['kind'] === 'ec2' ? this.#ec2(provider, where) : undefined
    })
  }

  #ec2(provider: Readonly<Record<string, unknown>>, where: string): Ec2Settings {
    const text = (name: string): string | undefined =>
      this.#text(provider[name], `${where}.${name}`)
    const { securityGroups, tags, spot } = provider
    if (spot !== undefined && typeof spot !== 'boolean') {
      this.problems.push(`${where}.spot: must be true or false`)
    }
    return compact({
      region: text('region'),
      endpoint: text('endpoint'),
      image: text('image') ?? this.#missing(`${where}.image`),
      instanceType: text('instanceType') ?? this.#missing(`${where}.instanceType`),
      subnet: text('subnet'),
      securityGroups: this.#words(securityGroups, `${where}.securityGroups`),
      keyName: text('keyName'),
      instanceProfile: text('instanceProfile'),
      userData: text('userData'),
      tags: tags === undefined ? undefined : this.#texts(tags, `${where}.tags`),
      spot: spot === true ? true : undefined,
      spotPriceMax: this.#number(provider['spotPriceMax'], `${where}.spotPriceMax`),
      ready: this.#choice(provider['ready'], `${where}.ready`, EC2_READY)
    })
  }

  #scheduler(value: unknown, where: string): SchedulerSettings {
    const scheduler = this.#object(value, where, ['kind', 'queue', 'hostGroup', 'slots'])
    return compact({
      kind: this.#choice(scheduler['kind'], `${where}.kind`, SCHEDULER_KINDS),
      queue: this.#text(scheduler['queue'], `${where}.queue`),
      hostGroup: this.#text(scheduler['hostGroup'], `${where}.hostGroup`),
      slots: this.#number(scheduler['slots'], `${where}.slots`, 1_000_000)
    })
  }

  #pool(value: unknown, where: string): readonly PoolMachine[] | undefined {
    if (value === undefined) return undefined
    if (!Array.isArray(value)) {
      this.problems.push(`${where}: must be a list`)
      return undefined
    }
    const machines = value.map((entry: unknown, index): PoolMachine => {
      const at = `${where}[${index}]`
      const machine = this.#object(entry, at, ['name', 'address', ...SSH_KEYS])
      const { name, address, ...ssh } = machine
      return compact({
        name: this.#text(name, `${at}.name`, HOST_NAME) ?? this.#missing(`${at}.name`),
        address: this.#text(address, `${at}.address`),
        ssh: this.#ssh(ssh, at) ?? { target: this.#missing(`${at}.target`) }
      })
    })
    if (new Set(machines.map(({ name }) => name)).size !== machines.length) {
      this.problems.push(`${where}: a name twice`)
    }
    return machines
  }

  #ssh(value: unknown, where: string): SshOptions | undefined {
    if (value === undefined) return undefined
    const ssh = this.#object(value, where, SSH_KEYS)
    const options = ssh['options'] === undefined ? undefined : this.#words(ssh['options'], where)
    return compact({
      target: this.#text(ssh['target'], `${where}.target`) ?? this.#missing(`${where}.target`),
      port: this.#number(ssh['port'], `${where}.port`, 65_535),
      identityFile: this.#text(ssh['identityFile'], `${where}.identityFile`),
      options
    })
  }

  #hooks<K extends string>(
    value: unknown,
    where: string,
    names: readonly K[]
  ): Partial<Record<K, Hook>> {
    const hooks = this.#object(value, where, names)
    const found: Partial<Record<K, Hook>> = {}
    for (const name of names) {
      const hook = hooks[name]
      if (hook !== undefined) found[name] = this.#hook(hook, `${where}.${name}`)
    }
    return found
  }

  #hook(value: unknown, where: string): Hook {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.#commandLine(value, where)
    }
    const { on, run } = this.#object(value, where, ['on', 'run'])
    const place: HookPlace = this.#choice(on, `${where}.on`, HOOK_PLACES) ?? 'here'
    return { on: place, run: this.#commandLine(run, `${where}.run`) }
  }

  /** A text stays one: it is for the shell. */
  #commandLine(value: unknown, where: string): string | readonly string[] {
    if (typeof value === 'string' && value !== '') return value
    return this.#words(value ?? null, where) ?? []
  }

  #object(value: unknown, where: string, keys: readonly string[]): Record<string, unknown> {
    if (value === undefined) return {}
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.problems.push(`${where}: must be an object`)
      return {}
    }
    const entries = Object.entries(value as Record<string, unknown>)
    for (const [key, given] of entries) {
      if (given !== undefined && !keys.includes(key))
        this.problems.push(`${where}.${key}: no such setting`)
    }
    return Object.fromEntries(entries.filter(([, given]) => given !== undefined))
  }

  #text(value: unknown, where: string, form?: RegExp): string | undefined {
    if (value === undefined) return undefined
    if (typeof value === 'string' && value !== '' && form?.test(value) !== false) return value
    this.problems.push(
      `${where}: must be a text${form === undefined ? '' : ` like ${String(form)}`}`
    )
    return undefined
  }

  #number(value: unknown, where: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
    if (value === undefined) return undefined
    if (typeof value === 'number' && value >= 0 && value <= most) return value
    this.problems.push(`${where}: must be a number from 0 to ${most}`)
    return undefined
  }

  #choice<T extends string>(value: unknown, where: string, choices: readonly T[]): T | undefined {
    if (value === undefined) return undefined
    const found = choices.find((choice) => choice === value)
    if (found === undefined) this.problems.push(`${where}: must be ${choices.join(', ')}`)
    return found
  }

  #words(value: unknown, where: string): readonly string[] | undefined {
    if (value === undefined) return undefined
    const isList = Array.isArray(value) && value.length > 0
    if (isList && value.every((word) => typeof word === 'string')) return value
    if (typeof value === 'string' && value !== '') return ['sh', '-c', value]
    this.problems.push(`${where}: must be a list of words or a text for the shell`)
    return undefined
  }

  #texts(value: unknown, where: string): Record<string, string> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.problems.push(`${where}: must be an object`)
      return {}
    }
    for (const [name, text] of Object.entries(value)) {
      if (typeof text !== 'string') this.problems.push(`${where}.${name}: must be a text`)
    }
    return value as Record<string, string>
  }

  #missing(where: string): string {
    this.problems.push(`${where}: is missing`)
    return ''
  }
}

const EC2_READY = ['checked', 'running'] as const
const EC2_KEYS = [
  ...['region', 'endpoint', 'image', 'instanceType', 'subnet', 'securityGroups', 'keyName'],
  ...['instanceProfile', 'userData', 'tags', 'spot', 'spotPriceMax', 'ready']
]
const DAY_MS = 24 * 3_600_000
const SSH_KEYS = ['target', 'port', 'identityFile', 'options'] as const
const HOST_PREFIX = /^[a-z][a-z0-9-]{0,40}$/
const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/

type Compact<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Without what was not given. */
function compact<T extends object>(value: T): Compact<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, given]) => given !== undefined)
  ) as Compact<T>
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
