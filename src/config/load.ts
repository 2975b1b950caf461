/**
 * A node's settings from where they may stand: flags win over the environment, that over the
 * configuration file, and what is nowhere has its default. Someone who made three mistakes in three
 * places hears of all of them at once, each with its place.
 */
import { readFileSync } from 'node:fs'
import { OpenClusterError } from '../errors.js'
import { isLoopback } from './address.js'
import type { Option } from './option.js'
import { envNameOf, keyOf, NODE_OPTIONS, type OptionName, type Settings } from './options.js'

export interface Sources {
  /** Values of the flags that were given, by name and already read. */
  readonly flags?: ReadonlyMap<string, unknown>
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What a program gives to `startNode`, keyed as in a configuration file. */
  readonly given?: Readonly<Record<string, unknown>>
}

export interface Loaded {
  readonly settings: Settings
  readonly problems: readonly OpenClusterError[]
}

const NAMES = Object.keys(NODE_OPTIONS) as OptionName[]
/** Below this a secret can be guessed from a recorded handshake. */
const SECRET_BYTES_MIN = 16
const FILE_BYTES_MAX = 1024 * 1024
/** One file for all: this part of it is for `loadbalance`, which checks it. */
const ELASTIC_KEY = 'elastic'
/** Fewer heartbeats than this in the time of death, and one late one kills a healthy node. */
const BEATS_MIN = 2

export function loadSettings(sources: Sources): Loaded {
  const problems: OpenClusterError[] = []
  const values: Record<string, unknown> = {}
  for (const name of NAMES) values[keyOf(name)] = NODE_OPTIONS[name].initial
  const flags = sources.flags ?? new Map<string, unknown>()
  const env = readEnv(sources.env ?? {}, flags, problems)
  const given = readObject(sources.given ?? {}, 'startNode', problems)
  const path = flags.get('config') ?? env.get('config') ?? given.get('config')
  const file =
    typeof path === 'string' ? readConfigFile(path, problems) : new Map<string, unknown>()
  for (const source of [file, given, env, flags]) {
    for (const [name, value] of source) values[keyOf(name)] = value
  }
  const settings = values as unknown as Settings
  problems.push(...checkSettings(settings))
  return { settings, problems }
}

/** What is wrong with settings that are each right by themselves. */
function checkSettings(settings: Settings): OpenClusterError[] {
  const problems: OpenClusterError[] = []
  const complain = (text: string): unknown =>
    problems.push(new OpenClusterError('OC_OPTION_CONFLICT', text))
  const { host, secretFile, heartbeatMs, deadAfterMs, dataDir, placement } = settings
  if (dataDir !== undefined && placement !== 'ring') {
    complain(`--data-dir ${dataDir}: only a ring has a disk; give --placement ring as well`)
  }
  if (!isLoopback(host) && secretFile === undefined) {
    complain(
      `--host ${host}: other machines could join; give --secret-file FILE, or listen on 127.0.0.1`
    )
  }
  if (deadAfterMs < BEATS_MIN * heartbeatMs) {
    complain(
      `--dead-after-ms ${deadAfterMs}: must be at least ${BEATS_MIN} times --heartbeat-ms ${heartbeatMs}`
    )
  }
  return problems
}

/** The cluster's secret: the file without the blanks around it. */
export function readSecret(path: string): Buffer {
  const secret = Buffer.from(readSmallFile(path).trim(), 'utf8')
  if (secret.length < SECRET_BYTES_MIN) {
    throw new Error(`the secret has ${secret.length} bytes, ${SECRET_BYTES_MIN} are needed`)
  }
  return secret
}

function readEnv(
  env: Readonly<Record<string, string | undefined>>,
  flags: ReadonlyMap<string, unknown>,
  problems: OpenClusterError[]
): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const name of NAMES) {
    const variable = envNameOf(name)
    const value = env[variable]
    // Kubernetes describes a service called opencluster to its neighbours as OPENCLUSTER_PORT=tcp://…
    if (value === undefined || value === '' || value.startsWith('tcp://') || flags.has(name)) {
      continue
    }
    const parsed = (NODE_OPTIONS[name] as Option<unknown>).parse(value)
    if ('value' in parsed) values.set(name, parsed.value)
    else problems.push(bad(`${variable}=${value}: ${parsed.problem}`))
  }
  return values
}

function readConfigFile(path: string, problems: OpenClusterError[]): Map<string, unknown> {
  try {
    const content: unknown = JSON.parse(readSmallFile(path))
    if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
      const own = Object.entries(content).filter(([key]) => key !== ELASTIC_KEY)
      return readObject(Object.fromEntries(own), path, problems)
    }
    problems.push(bad(`${path}: must be a JSON object`))
  } catch (error) {
    problems.push(bad(`${path}: ${error instanceof Error ? error.message : String(error)}`))
  }
  return new Map()
}

function readObject(
  object: Readonly<Record<string, unknown>>,
  where: string,
  problems: OpenClusterError[]
): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [key, value] of Object.entries(object)) {
    const name = NAMES.find((candidate) => keyOf(candidate) === key)
    if (name === undefined) {
      problems.push(new OpenClusterError('OC_UNKNOWN_OPTION', `${where}: ${key}: no such option`))
      continue
    }
    if (value === undefined) continue
    const parsed = readValue(NODE_OPTIONS[name], value)
    if ('value' in parsed) values.set(name, parsed.value)
    else problems.push(bad(`${where}: ${key} ${JSON.stringify(value)}: ${parsed.problem}`))
  }
  return values
}

/** Values of JSON go the way of text, so that there is one set of rules. */
function readValue(option: Option<unknown>, value: unknown): ReturnType<Option<unknown>['parse']> {
  if (typeof value === 'string' || typeof value === 'number') return option.parse(String(value))
  if (!Array.isArray(value) || option.gather === undefined) {
    return { problem: 'must be a text or a number' }
  }
  let all = option.initial
  for (const item of value as unknown[]) {
    const parsed = typeof item === 'string' ? option.parse(item) : { problem: 'must be texts' }
    if ('problem' in parsed) return parsed
    all = option.gather(all, parsed.value)
  }
  return { value: all }
}

function readSmallFile(path: string): string {
  const content = readFileSync(path, 'utf8')
  if (content.length > FILE_BYTES_MAX) throw new Error('the file is too large')
  return content
}

function bad(text: string): OpenClusterError {
  return new OpenClusterError('OC_BAD_OPTION', text)
}
