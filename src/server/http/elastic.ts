/**
 * `/api/elastic`: what load balancers on this machine last told this node (core/scaling/balancer-report), for the
 * dashboard. A balancer is a process of its own and may stand beside any node; it sends a report a pass to
 * `POST /api/elastic/CLUSTER`, which takes what every action takes: the token, from this machine. The node keeps the
 * last report of each cluster in memory and a chart's worth of what was, and nothing else comes of it.
 */
import {
  toReportPoint,
  type BalancerReport,
  type PublishedReport,
  type ReportPoint
} from '../../core/scaling/balancer-report.js'
import type { FastifyInstance } from 'fastify'
import { refuse } from './context.js'
import type { Permissions } from './origin.js'

const CLUSTERS_MAX = 16
const POINTS_MAX = 240
/** So many intervals without a report, and the balancer is taken for stopped. */
const SILENT_INTERVALS = 3
const LIST_MAX = 1000
const CLUSTER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

interface Kept {
  readonly report: BalancerReport
  readonly receivedAt: number
  readonly history: readonly ReportPoint[]
}

interface ClusterParams {
  readonly cluster: string
}

export interface ElasticOptions {
  readonly node: { now(): number }
  readonly permissions: Permissions
}

export function elastic(app: FastifyInstance, { node, permissions }: ElasticOptions): void {
  const kept = new Map<string, Kept>()

  app.get('/api/elastic', (request, reply) => {
    permissions.admit(request, reply)
    const names = [...kept.keys()].sort()
    const balancers = names.flatMap((name) => {
      const one = kept.get(name)
      return one === undefined ? [] : [publish(one, node.now())]
    })
    return reply.header('cache-control', 'no-store').send({ balancers })
  })

  app.post<{ Params: ClusterParams; Body: unknown }>('/api/elastic/:cluster', (request, reply) => {
    const admitted = permissions.admit(request, reply)
    const denied = admitted ? permissions.judge(request) : 'this page is not of this cluster'
    if (denied !== undefined) return refuse(reply, 403, { code: 'OC_FORBIDDEN', message: denied })
    const { cluster } = request.params
    const problem = findProblem(request.body, cluster)
    if (problem !== undefined) {
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: problem })
    }
    const report = request.body as BalancerReport
    if (!kept.has(cluster) && kept.size >= CLUSTERS_MAX) dropOldest(kept)
    const former = kept.get(cluster)?.history ?? []
    kept.set(cluster, { report, receivedAt: node.now(), history: appendPoint(former, report) })
    return reply.code(204).send()
  })
}

function publish({ report, receivedAt, history }: Kept, now: number): PublishedReport {
  const stale = now - receivedAt > SILENT_INTERVALS * report.intervalMs
  return { ...report, receivedAt, stale, history }
}

/** A report between two passes, when only hosts went on, has the time of the last pass and replaces its point. */
function appendPoint(former: readonly ReportPoint[], report: BalancerReport): ReportPoint[] {
  const point = report.problem === null ? toReportPoint(report) : undefined
  if (point === undefined) return [...former]
  return [...former.filter(({ at }) => at !== point.at), point].slice(-POINTS_MAX)
}

function dropOldest(kept: Map<string, Kept>): void {
  let oldest: { readonly name: string; readonly receivedAt: number } | undefined
  for (const [name, { receivedAt }] of kept) {
    if (oldest === undefined || receivedAt < oldest.receivedAt) oldest = { name, receivedAt }
  }
  if (oldest !== undefined) kept.delete(oldest.name)
}

const TEXTS = ['source', 'provider', 'summary'] as const
const NUMBERS = ['at', 'intervalMs', 'failedPasses', 'hopelessCount', 'hostsCount', 'jobsCount']
const LISTS = ['actions', 'verdicts', 'hopeless', 'hosts', 'jobs'] as const
const OBJECTS = ['limits', 'cost'] as const

/** What a page relies on; the sender is one of ours, so a wrong form is another version and not an attack. */
function findProblem(body: unknown, cluster: string): string | undefined {
  if (!CLUSTER_NAME.test(cluster)) return 'the name of the cluster has letters it may not have'
  if (!isObject(body)) return 'a report as JSON is wanted'
  if (body['cluster'] !== cluster) return 'the report is of another cluster'
  for (const name of TEXTS) if (typeof body[name] !== 'string') return `${name} must be a text`
  for (const name of NUMBERS) if (!isNumber(body[name])) return `${name} must be a number`
  for (const name of OBJECTS) if (!isObject(body[name])) return `${name} must be an object`
  for (const name of LISTS) {
    const list = body[name]
    const isList = Array.isArray(list) && list.length <= LIST_MAX && list.every(isObject)
    if (!isList) return `${name} must be a list of objects, ${LIST_MAX} at the most`
  }
  const { problem, statistics, dryRun } = body
  if (problem !== null && typeof problem !== 'string') return 'problem must be a text or null'
  if (typeof dryRun !== 'boolean') return 'dryRun must be true or false'
  if (statistics !== null && !(isObject(statistics) && Object.values(statistics).every(isNumber))) {
    return 'statistics must be an object of numbers or null'
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
