/**
 * The JSON that a program of the user prints for `--source command`, as facts. The names are those of the facts
 * themselves (docs/elastic.md lists them); times may be milliseconds since 1970 or ISO 8601 with a zone. A field that
 * is not known is refused, since a misspelt `slots` would otherwise be a host without any.
 */
import type {
  Consumable,
  FinishedJob,
  HostFacts,
  HostState,
  JobFacts,
  JobState,
  PendingReason,
  Resources
} from '../../core/scaling/facts.js'
import { FactsError } from './facts-error.js'
import { parseJsonObject, toCount, toObject, toObjects, toText } from './json-reading.js'
import type { SourceFacts } from './source.js'

const HOSTS_MAX = 100_000
const JOBS_MAX = 1_000_000
const LIST_MAX = 10_000
const SLOTS_MAX = 1_000_000

const HOST_STATES: readonly HostState[] = [
  'ready',
  'disabled',
  'draining',
  'orphaned',
  'unreachable',
  'error',
  'alarm'
]
const JOB_STATES: readonly JobState[] = [
  'queued',
  'requeued',
  'held',
  'errored',
  'running',
  'suspended'
]
const REASONS: readonly PendingReason[] = [
  'resources',
  'priority',
  'dependency',
  'hold',
  'start-time',
  'throttle',
  'quota',
  'licence',
  'impossible',
  'other'
]

type Reader<T> = (value: unknown, what: string) => T
interface Field<T> {
  readonly read: Reader<T>
  readonly initial?: T
  readonly isRequired?: true
}
type Fields<T> = { readonly [K in keyof Required<T>]: Field<Required<T>[K]> }

const required = <T>(read: Reader<T>): Field<T> => ({ read, isRequired: true })
const optional = <T>(read: Reader<T>): Field<T> => ({ read })
const initially = <T>(initial: T, read: Reader<T>): Field<T> => ({ read, initial })

const readTime: Reader<number> = (value, what) => {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  const isIso = typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)$/.test(value)
  const time = isIso ? Date.parse(value) : NaN
  if (!Number.isNaN(time)) return time
  throw new FactsError(`${what}: must be milliseconds since 1970 or ISO 8601 with a zone`)
}
const readSlots: Reader<number> = (value, what) => toCount(value, what, SLOTS_MAX)
const readAtLeastOne: Reader<number> = (value, what) => {
  const count = toCount(value, what)
  if (count < 1) throw new FactsError(`${what}: must be at least 1`)
  return count
}
const readAmount: Reader<number> = (value, what) => {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new FactsError(`${what}: must be a number, 0 or more`)
}
const readBoolean: Reader<boolean> = (value, what) => {
  if (typeof value === 'boolean') return value
  throw new FactsError(`${what}: must be true or false`)
}
const readChoice =
  <T extends string>(choices: readonly T[]): Reader<T> =>
  (value, what) => {
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    throw new FactsError(`${what}: must be ${choices.join(', ')}`)
  }
const readTexts: Reader<readonly string[]> = (value, what) => {
  if (!Array.isArray(value) || value.length > LIST_MAX) {
    throw new FactsError(`${what}: must be a list of texts`)
  }
  return value.map((item, index) => toText(item, `${what}[${index}]`))
}
/** Numbers are identities of jobs in most schedulers. */
const readId: Reader<string> = (value, what) =>
  typeof value === 'number' ? String(toCount(value, what)) : toText(value, what)

const readResources: Reader<Resources> = (value, what) => {
  const entries = Object.entries(toObject(value, what))
  for (const [name, amount] of entries) {
    if (typeof amount === 'string') continue
    readAmount(amount, `${what}.${name}`)
  }
  return Object.fromEntries(entries) as Resources
}

const readAmounts: Reader<Readonly<Record<string, number>>> = (value, what) =>
  Object.fromEntries(
    Object.entries(toObject(value, what)).map(([name, amount]) => [
      name,
      readAmount(amount, `${what}.${name}`)
    ])
  )

function readFields<T>(fields: Fields<T>): Reader<T> {
  return (value, what) => {
    const object = toObject(value, what)
    const known = Object.keys(fields)
    for (const name of Object.keys(object)) {
      if (known.includes(name)) continue
      throw new FactsError(`${what}: ${name}: no such field; there are: ${known.join(', ')}`)
    }
    const result: Record<string, unknown> = {}
    for (const [name, field] of Object.entries<Field<unknown>>(fields)) {
      const given = object[name]
      if (given !== undefined && given !== null) result[name] = field.read(given, `${what}.${name}`)
      else if (field.isRequired === true) throw new FactsError(`${what}: ${name} is missing`)
      else if (field.initial !== undefined) result[name] = field.initial
    }
    return result as T
  }
}

function readListOf<T>(read: Reader<T>, most: number): Reader<readonly T[]> {
  return (value, what) =>
    toObjects(value, what, most).map((item, index) => read(item, `${what}[${index}]`))
}

const QUEUE_FIELDS = {
  queue: required(toText),
  slots: required(readSlots),
  used: initially(0, readSlots)
}

const HOST_FIELDS: Fields<HostFacts> = {
  name: required(toText),
  role: initially('worker', readChoice(['master', 'worker'])),
  state: initially('ready', readChoice(HOST_STATES)),
  slots: required(readSlots),
  used: initially(0, readSlots),
  queues: initially([], readListOf(readFields(QUEUE_FIELDS), LIST_MAX)),
  resources: optional(readResources),
  resourcesUsed: optional(readAmounts),
  launchedAt: optional(readTime),
  idleSince: optional(readTime),
  stateSince: optional(readTime),
  protected: optional(readBoolean),
  managed: optional(readBoolean),
  machine: optional(readChoice(['running', 'gone', 'unknown'])),
  interruptionAt: optional(readTime),
  pricePerHour: optional(readAmount)
}

const JOB_FIELDS: Fields<JobFacts> = {
  id: required(readId),
  state: initially('queued', readChoice(JOB_STATES)),
  submittedAt: required(readTime),
  slots: initially(1, readAtLeastOne),
  tasks: initially(1, readAtLeastOne),
  taskLimit: optional(readAtLeastOne),
  span: optional(readChoice(['host', 'hosts'])),
  slotsPerHost: optional(readAtLeastOne),
  queues: optional(readTexts),
  resources: optional(readResources),
  holds: optional(readTexts),
  dependsOn: optional(readTexts),
  startAfter: optional(readTime),
  reason: optional(readChoice(REASONS)),
  reasonText: optional(toText),
  hosts: optional(
    readListOf(readFields({ host: required(toText), slots: required(readSlots) }), LIST_MAX)
  ),
  startedAt: optional(readTime),
  timeLimitMs: optional(readAmount),
  family: optional(toText)
}

const FINISHED_FIELDS: Fields<FinishedJob> = {
  id: required(readId),
  submittedAt: optional(readTime),
  startedAt: required(readTime),
  endedAt: required(readTime),
  slots: initially(1, readAtLeastOne),
  family: optional(toText)
}

const CONSUMABLE_FIELDS: Fields<Consumable> = {
  name: required(toText),
  total: required(readAmount),
  used: initially(0, readAmount)
}

const ANSWER_FIELDS: Fields<Omit<SourceFacts, 'at'>> = {
  hosts: required(readListOf(readFields(HOST_FIELDS), HOSTS_MAX)),
  jobs: required(readListOf(readFields(JOB_FIELDS), JOBS_MAX)),
  finished: initially([], readListOf(readFields(FINISHED_FIELDS), JOBS_MAX)),
  consumables: initially([], readListOf(readFields(CONSUMABLE_FIELDS), LIST_MAX))
}

export function parseAnswer(text: string, what: string, now: number): SourceFacts {
  const answer = readFields(ANSWER_FIELDS)(parseJsonObject(text, what), what)
  const names = new Set<string>()
  for (const { name, slots, used } of answer.hosts) {
    if (names.has(name)) throw new FactsError(`${what}: host ${name} twice`)
    names.add(name)
    if (used > slots) throw new FactsError(`${what}: ${name} has ${slots} slots and ${used} in use`)
  }
  return { at: now, ...answer }
}
