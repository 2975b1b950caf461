/**
 * Grid Engine's `qhost -xml` and the queue instances of qstat as hosts: one for all of its queues, as good as the best
 * of them. A master that runs no jobs is among them without slots.
 */
import type {
  HostFacts,
  HostState,
  JobFacts,
  QueueSlots,
  Resources
} from '../../core/scaling/facts.js'
import { FactsError } from './facts-error.js'
import {
  OWN_RESOURCES,
  readMemory,
  type GridEngineQueue,
  type QueueInstance
} from './grid-engine-queue.js'
import { childrenOf, parseXml, textOf, type XmlElement } from './scheduler-xml.js'

const SITE_NAMES_MAX = 50

/** The site's own countable resources that jobs ask for, to be given to `qhost -F`. */
export function listSiteResources(queue: GridEngineQueue): string[] {
  const names = new Set<string>()
  for (const { facts } of queue.waiting) {
    for (const name of Object.keys(facts.resources ?? {}))
      if (!OWN_RESOURCES.has(name)) names.add(name)
  }
  return [...names].filter((name) => /^[A-Za-z_][\w.-]{0,99}$/.test(name)).slice(0, SITE_NAMES_MAX)
}

interface HostLine {
  readonly name: string
  readonly resources: Resources
  readonly resourcesUsed?: Readonly<Record<string, number>>
  /** It reports its load, so it was heard. */
  readonly isHeard: boolean
}

export interface HostList {
  readonly lines: readonly HostLine[]
  /** What is left of each thing that the whole cluster shares. */
  readonly shared: ReadonlyMap<string, number>
}

export function parseHosts(xml: string): HostList {
  const root = parseXml(xml, 'qhost', 'qhost')
  const lines: HostLine[] = []
  const shared = new Map<string, number>()
  for (const element of childrenOf(root, 'host')) {
    const name = element['@name']
    if (typeof name !== 'string' || name === '') throw new FactsError('qhost: a host without name')
    const site = readSiteValues(element, shared)
    if (name === 'global') continue
    const values = new Map<string, string>()
    for (const value of childrenOf(element, 'hostvalue')) {
      const key = value['@name']
      if (typeof key === 'string') values.set(key, textOf(value, '#text') ?? '')
    }
    lines.push({
      name,
      isHeard: (values.get('load_avg') ?? '-') !== '-',
      resources: { ...readHostResources(values), ...site }
    })
  }
  return { lines, shared }
}

/** `qhost -F`: a value with dominance `g…` belongs to the whole cluster, others to the host. */
function readSiteValues(element: XmlElement, shared: Map<string, number>): Record<string, number> {
  const own: Record<string, number> = {}
  for (const value of childrenOf(element, 'resourcevalue')) {
    const name = value['@name']
    const number = Number(textOf(value, '#text') ?? NaN)
    if (typeof name !== 'string' || !Number.isFinite(number)) continue
    if (String(value['@dominance']).startsWith('g')) shared.set(name, number)
    else own[name] = number
  }
  return own
}

function readHostResources(values: ReadonlyMap<string, string>): Resources {
  const arch = values.get('arch_string') ?? '-'
  const memoryMb = readMemory(values.get('mem_total') ?? '')
  const processors = values.get('num_proc') ?? ''
  return {
    ...(arch === '-' ? {} : { arch }),
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(/^\d{1,6}$/.test(processors) ? { processors: Number(processors) } : {})
  }
}

/** Worst last: a host is as good as its best queue. */
const STATES: readonly HostState[] = [
  'ready',
  'alarm',
  'disabled',
  'draining',
  'orphaned',
  'error',
  'unreachable'
]

/** One host for all of its queue instances, in the order of qhost; a master without slots is among them. */
export function composeHosts(
  list: HostList,
  queue: Pick<GridEngineQueue, 'instances' | 'running'>,
  { master, siteResources }: { master?: string | undefined; siteResources: readonly string[] }
): HostFacts[] {
  const { lines, shared } = list
  const { instances, running } = queue
  const taken = countTaken(running)
  const complete = (line: HostLine): HostLine => {
    const resources: Record<string, string | number> = { ...line.resources }
    const resourcesUsed: Record<string, number> = {}
    for (const resource of siteResources) {
      if (shared.has(resource)) continue
      // What is left and what is taken: a host whose cards are all in use has cards. One without any has none.
      const left = Number(line.resources[resource] ?? 0)
      resourcesUsed[resource] = taken.get(`${line.name} ${resource}`) ?? 0
      resources[resource] = left + resourcesUsed[resource]
    }
    return { ...line, resources, resourcesUsed }
  }
  const byHost = new Map<string, QueueInstance[]>()
  for (const instance of instances) {
    const known = byHost.get(instance.host)
    if (known === undefined) byHost.set(instance.host, [instance])
    else known.push(instance)
  }
  const hosts: HostFacts[] = []
  const names = new Set<string>()
  const all = [...lines]
  const listed = new Set(lines.map(({ name }) => name))
  // An orphaned instance may outlive its host's entry.
  for (const name of byHost.keys()) {
    if (listed.has(name)) continue
    all.push({ name, resources: {}, isHeard: true })
  }
  for (const line of all) {
    if (names.has(line.name)) throw new FactsError(`qhost: ${line.name} twice`)
    names.add(line.name)
    hosts.push(composeHost(complete(line), byHost.get(line.name) ?? [], master))
  }
  if (master !== undefined && !hosts.some(({ role }) => role === 'master')) {
    const idle = { slots: 0, used: 0, queues: [] }
    hosts.push({ name: master, role: 'master', state: 'ready', ...idle })
  }
  return hosts
}

/** By host and resource, what running jobs hold of it; a count is for each slot. */
function countTaken(running: readonly JobFacts[]): Map<string, number> {
  const taken = new Map<string, number>()
  for (const { resources, hosts = [] } of running) {
    for (const [name, amount] of Object.entries(resources ?? {})) {
      if (OWN_RESOURCES.has(name) || typeof amount !== 'number') continue
      for (const { host, slots } of hosts) {
        const key = `${host} ${name}`
        taken.set(key, (taken.get(key) ?? 0) + amount * slots)
      }
    }
  }
  return taken
}

function composeHost(
  line: HostLine,
  instances: readonly QueueInstance[],
  master: string | undefined
): HostFacts {
  const { name, resources, resourcesUsed = {}, isHeard } = line
  const best = instances.reduce(
    (found, { state }) => Math.min(found, STATES.indexOf(state)),
    STATES.length - 1
  )
  // Without a queue it takes no jobs; whether it lives only its load tells.
  const bare: HostState = isHeard ? 'disabled' : 'unreachable'
  const state = instances.length === 0 ? bare : STATES[best]
  // A closed queue on an open host has no free slots to offer.
  const queues = instances.map((instance): QueueSlots => ({
    queue: instance.queue,
    slots: instance.state === state ? instance.slots : Math.min(instance.slots, instance.used),
    used: instance.used
  }))
  const used = instances.reduce((sum, instance) => sum + instance.used, 0)
  const slots = queues.reduce((most, queue) => Math.max(most, queue.slots), used)
  const arch = instances.find((instance) => instance.arch !== undefined)?.arch
  return {
    name,
    role: isSameHost(name, master) ? 'master' : 'worker',
    state,
    slots,
    used,
    queues,
    resources: { ...(arch === undefined ? {} : { arch }), ...resources },
    ...(Object.keys(resourcesUsed).length > 0 ? { resourcesUsed } : {})
  }
}

/** Grid Engine may show a host with or without its domain. */
export function isSameHost(name: string, other: string | undefined): boolean {
  if (other === undefined) return false
  if (name === other) return true
  if (name.includes('.') && other.includes('.')) return false
  return name.split('.')[0] === other.split('.')[0]
}
