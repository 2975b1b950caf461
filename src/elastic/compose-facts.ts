/** The scheduler's facts with what the provider and the state file know added: whose hosts these are, and what they cost. */
import type { BootingHost, Facts, HostFacts } from '../core/scaling/facts.js'
import type { HostRecord } from './host-record.js'
import type { Machine } from './providers/provider.js'
import type { SourceFacts } from './sources/source.js'
import type { ElasticState } from './state-file.js'

export interface ComposeOptions {
  readonly source: SourceFacts
  /** Undefined if the provider cannot list. */
  readonly machines: readonly Machine[] | undefined
  readonly state: ElasticState
  readonly pricePerHour: number | undefined
}

export function composeFacts({ source, machines, state, pricePerHour }: ComposeOptions): Facts {
  const records = new Map(state.records.map((record) => [record.name, record]))
  const byName = new Map<string, Machine>()
  for (const machine of machines ?? []) {
    if (machine.state !== 'gone' || !byName.has(machine.name)) byName.set(machine.name, machine)
  }
  const busy = new Set(source.jobs.flatMap((job) => (job.hosts ?? []).map(({ host }) => host)))
  const hosts: HostFacts[] = []
  for (const host of source.hosts) {
    const record = records.get(host.name)
    // Half registered: it counts as booting until the scheduler takes it.
    const isComing = record?.phase === 'adding' && host.state !== 'ready'
    if (isComing && host.used === 0 && !busy.has(host.name)) continue
    const machine = byName.get(host.name)
    hosts.push({
      ...host,
      ...describeOwner(host, record),
      ...(machines === undefined ? {} : describeMachine(host, record, machine)),
      ...pick('launchedAt', host.launchedAt ?? machine?.launchedAt ?? record?.launchedAt),
      ...pick('pricePerHour', host.pricePerHour ?? machine?.pricePerHour ?? pricePerHour),
      ...pick('interruptionAt', host.interruptionAt ?? machine?.interruptionAt)
    })
  }
  const running = [...byName.values()].filter(
    (machine) => machine.state === 'running' || machine.state === 'pending'
  )
  const others = hosts.filter(({ name }) => !byName.has(name) && !records.has(name))
  const coming = state.records.filter(({ phase }) => phase === 'adding')
  return {
    ...source,
    hosts,
    provider: {
      booting: coming.map(toBooting),
      stopped: state.records.filter(({ phase }) => phase === 'stopped').map(({ name }) => name),
      ...(machines === undefined ? {} : { machines: running.length + others.length }),
      bootFailures: state.bootFailures,
      capacityFailures: state.capacityFailures,
      ...pick('lastBootAt', state.lastBootAt),
      bootDurationsMs: state.bootDurationsMs
    }
  }
}

function toBooting({ name, since, launchedAt }: HostRecord): BootingHost {
  return { name, since, ...pick('launchedAt', launchedAt) }
}

function describeOwner(host: HostFacts, record: HostRecord | undefined): Partial<HostFacts> {
  if (host.role === 'master') return {}
  if (record === undefined) return { managed: host.managed ?? false }
  const isLeaving = record.phase === 'removing' || record.phase === 'closed'
  const isClosed = host.state === 'disabled' || host.state === 'ready'
  return { managed: true, ...(isLeaving && isClosed ? { state: 'draining' } : {}) }
}

/** A list without the machine of a host that the scheduler hears is a wrong list. */
function describeMachine(
  host: HostFacts,
  record: HostRecord | undefined,
  machine: Machine | undefined
): Partial<HostFacts> {
  if (record === undefined) return {}
  if (machine?.state === 'unknown') return { machine: 'unknown' }
  if (machine !== undefined && machine.state !== 'gone') return { machine: 'running' }
  return { machine: host.state === 'unreachable' ? 'gone' : 'unknown' }
}

function pick<K extends string>(key: K, value: number | undefined): Partial<Record<K, number>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, number>)
}
