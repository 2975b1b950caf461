/**
 * Brings together what is remembered and what the provider has: a machine that nobody remembers (the balancer died
 * before it wrote it down) is taken on, a second one of the same name is ended, and a remembered one that is no more is
 * cleaned up after. Says what it did; decides nothing about load.
 */
import type { HostFacts } from '../core/scaling/facts.js'
import { beginRemoving, ADDING_STEPS, type HostRecord } from './host-record.js'
import type { Machine } from './providers/provider.js'
import type { StateStore } from './state-store.js'

export interface ReconcileOptions {
  readonly store: StateStore
  readonly machines: readonly Machine[]
  readonly hosts: readonly HostFacts[]
  readonly now: number
  readonly report: (line: string) => void
  /** Hosts are made known to a scheduler: one that serves must be there. */
  readonly hasRegistrar: boolean
}

/** A machine just launched may be missing in the provider's list for so long. */
const LISTED_AFTER_MS = 60_000

/** The machines to end: each is a second one of its name. */
export function reconcile(options: ReconcileOptions): Machine[] {
  const { store, machines, hosts, now, report } = options
  const known = new Map(hosts.map((host) => [host.name, host]))
  const byName = new Map<string, Machine>()
  const spare: Machine[] = []
  for (const machine of sortForKeeping(machines, store)) {
    if (machine.state === 'gone') continue
    if (byName.has(machine.name)) spare.push(machine)
    else byName.set(machine.name, machine)
  }
  for (const machine of byName.values()) {
    if (store.find(machine.name) !== undefined || machine.state === 'unknown') continue
    if (known.get(machine.name)?.role === 'master') continue
    report(`${machine.name}: a machine that was not written down; it is taken on`)
    store.put(adopt(machine, known.has(machine.name), now))
  }
  for (const record of store.records) {
    const changed = review(record, byName.get(record.name), known.get(record.name), options)
    if (changed === undefined) continue
    if (changed === 'drop') store.drop(record.name)
    else store.put(changed)
  }
  for (const { name, id } of spare)
    report(`${name}: a second machine of that name (${id}) is ended`)
  return spare
}

/** The one that is written down first, then the oldest. */
function sortForKeeping(machines: readonly Machine[], store: StateStore): Machine[] {
  const isWritten = ({ name, id }: Machine): boolean => store.find(name)?.machineId === id
  return [...machines].sort(
    (a, b) =>
      Number(isWritten(b)) - Number(isWritten(a)) ||
      (a.launchedAt ?? Infinity) - (b.launchedAt ?? Infinity) ||
      a.id.localeCompare(b.id)
  )
}

function adopt(machine: Machine, isHost: boolean, now: number): HostRecord {
  const { name, id, address, launchedAt, state } = machine
  const common = {
    name,
    reason: 'found at the provider',
    since: now,
    machineId: id,
    launchedAt: launchedAt ?? now,
    ...(address === undefined ? {} : { address })
  }
  if (state === 'stopped') return { ...common, phase: 'stopped' }
  if (isHost) return { ...common, phase: 'serving', isRegistered: true }
  return { ...common, phase: 'adding', step: 'wait' }
}

function review(
  record: HostRecord,
  machine: Machine | undefined,
  host: HostFacts | undefined,
  { store, now, report, hasRegistrar }: ReconcileOptions
): HostRecord | 'drop' | undefined {
  const { name, phase } = record
  if (machine === undefined) {
    // A list without the machine of a host that the scheduler hears is a wrong list.
    if (host !== undefined && host.state !== 'unreachable') return undefined
    if (phase === 'stopped') return 'drop'
    if (phase === 'adding') {
      const isLaunched = record.step !== undefined && ADDING_STEPS.indexOf(record.step as never) > 0
      if (!isLaunched || now - (record.launchedAt ?? now) < LISTED_AFTER_MS) return undefined
      store.noteFailure('bootFailures', name, 'its machine is gone', now)
      report(`${name}: its machine is gone before it was added`)
      return beginRemoving(record, 'its machine is gone', { now, isDead: true })
    }
    // The scheduler still has it: the rules say what follows. It has not: only the rest is to be cleared away.
    if (phase !== 'removing' && host === undefined) {
      report(`${name}: its machine is gone, and the scheduler does not have it`)
      return beginRemoving(record, 'its machine is gone', { now, isDead: true })
    }
    if (phase === 'removing' && record.isDead !== true) return { ...record, isDead: true }
    return undefined
  }
  if (phase === 'serving' && hasRegistrar && host === undefined && machine.state === 'running') {
    report(`${name}: the scheduler does not have it any more; it is registered again`)
    return {
      ...record,
      phase: 'adding',
      step: 'register',
      since: now,
      reason: 'lost by the scheduler'
    }
  }
  return undefined
}
