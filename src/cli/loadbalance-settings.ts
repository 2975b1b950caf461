/** The settings of one cluster from the configuration file and the flags, with all that is wrong in either. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judgeAddress } from '../config/address.js'
import { OpenClusterError } from '../errors.js'
import { findSetupProblems } from '../elastic/setup.js'
import { SettingsReader, type ElasticSettings } from '../elastic/settings.js'
import {
  LOADBALANCE_OPTIONS,
  readPolicyFlags,
  translateSpelling,
  type LoadbalanceValues
} from './loadbalance-options.js'
import { parseOptions } from './options.js'

const FILE_BYTES_MAX = 1024 * 1024
const CLUSTER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
/** A cluster to look at without having one: a queue that is shown, and in which nothing is to be done. */
const DEMO_CLUSTER = 'demo'
const DEMO_FACTS = fileURLToPath(new URL('../elastic/demo-facts.js', import.meta.url))

export interface LoadbalanceSettings {
  readonly settings: ElasticSettings
  /** The flags of the command line over those of the file. */
  readonly values: LoadbalanceValues
  readonly stateFolder: string
  readonly problems: readonly OpenClusterError[]
}

export function loadLoadbalanceSettings(
  cluster: string,
  flags: LoadbalanceValues,
  env: Readonly<Record<string, string | undefined>>
): LoadbalanceSettings {
  const problems: OpenClusterError[] = []
  const complain = (message: string): unknown =>
    problems.push(new OpenClusterError('OC_BAD_OPTION', message))
  if (!CLUSTER_NAME.test(cluster)) {
    complain(
      `${cluster}: a cluster's name is up to 63 letters, digits, dots, dashes or underscores`
    )
  }
  const path = flags.config ?? env['OPENCLUSTER_CONFIG']
  const found = path === undefined ? undefined : readCluster(path, cluster, complain)
  const reader = new SettingsReader()
  const read = reader.read(found ?? {}, `elastic.${cluster}`)
  for (const problem of reader.problems) complain(`${path ?? ''}: ${problem}`)
  const where = `${path ?? ''}: elastic.${cluster}.options`
  const values = mergeOptions(read.options, flags, (problem) => complain(`${where}: ${problem}`))
  for (const name of ['node', 'dashboard'] as const) {
    const problem = values[name] === undefined ? undefined : judgeAddress(values[name])
    if (problem !== undefined) complain(`--${name} ${values[name] ?? ''}: ${problem}`)
  }
  const settings = applyFlags(cluster, read, values)
  if (problems.length === 0) for (const problem of findSetupProblems(settings)) complain(problem)
  const stateFolder = resolve(
    values['state-dir'] ?? join(homedir(), '.opencluster', 'elastic', cluster)
  )
  return { settings, values, stateFolder, problems }
}

/** What stands in the file goes the way of the command line, so that there is one set of rules. */
function mergeOptions(
  given: Readonly<Record<string, unknown>>,
  flags: LoadbalanceValues,
  complain: (text: string) => unknown
): LoadbalanceValues {
  const argv: string[] = []
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'boolean') argv.push(value ? `--${name}` : `--no-${name}`)
    else if (typeof value === 'string' || typeof value === 'number') argv.push(`--${name}=${value}`)
    else complain(`${name}: must be a text, a number, true or false`)
  }
  const {
    values,
    given: named,
    problems
  } = parseOptions(LOADBALANCE_OPTIONS, translateSpelling(argv))
  for (const { message } of problems) complain(message)
  if (named.has('config')) complain('config: this is the file')
  const typed = Object.entries(flags).filter(([, value]) => value !== undefined)
  return { ...values, ...Object.fromEntries(typed) }
}

function readCluster(path: string, cluster: string, complain: (text: string) => unknown): unknown {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.length > FILE_BYTES_MAX) throw new Error('the file is too large')
    const content: unknown = JSON.parse(text)
    const elastic = (content as { elastic?: unknown } | null)?.elastic
    if (typeof elastic !== 'object' || elastic === null) throw new Error('no object `elastic`')
    if (!Object.hasOwn(elastic, cluster)) {
      const names = Object.keys(elastic).join(', ')
      throw new Error(`no cluster ${cluster} in \`elastic\`; there are: ${names || 'none'}`)
    }
    return (elastic as Record<string, unknown>)[cluster]
  } catch (error) {
    complain(`${path}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

function applyFlags(
  cluster: string,
  settings: ElasticSettings,
  values: LoadbalanceValues
): ElasticSettings {
  const { source, provider } = settings
  const sourceKind = values.source ?? source.kind
  const providerKind = values.provider ?? provider.kind
  const given = values['source-command']
  const demo = cluster === DEMO_CLUSTER ? [process.execPath, DEMO_FACTS] : undefined
  const command = given === undefined ? (source.command ?? demo) : ['sh', '-c', given]
  const node = values.node ?? source.node
  return {
    ...settings,
    source: {
      ...source,
      ...(sourceKind === undefined ? {} : { kind: sourceKind }),
      ...(command === undefined ? {} : { command }),
      ...(node === undefined ? {} : { node })
    },
    provider: { ...provider, ...(providerKind === undefined ? {} : { kind: providerKind }) },
    policyName: values.policy ?? settings.policyName,
    policy: { ...settings.policy, ...readPolicyFlags(values) }
  }
}
