/**
 * Grid Engine's `qstat -j LIST -xml`: the only place that says why a job waits, when it may start (`-a`) and how many
 * of its tasks may run at once (`-tc`). All of these show plain `qw` in the queue. It costs about 4 kB a job, so it is
 * asked only for jobs where the answer can change something.
 */
import type { JobFacts, PendingReason } from '../../core/scaling/facts.js'
import type { WaitingJob } from './grid-engine-queue.js'
import { childOf, childrenOf, parseXml, textOf, type XmlElement } from './scheduler-xml.js'

export interface Detail {
  readonly startAfter?: number
  readonly taskLimit?: number
  readonly reason?: PendingReason
  readonly reasonText?: string
}

const SECOND_MS = 1000
const REASONS_MAX = 3

/** The scheduler's sentences; the first that fits tells the kind. */
const SENTENCES: readonly (readonly [RegExp, PendingReason])[] = [
  [/execution time not reached/, 'start-time'],
  [/hold state/, 'hold'],
  [/job dependencies/, 'dependency'],
  [/cannot run globally because.*\bg[a-z]:/, 'licence'],
  [/task(s)? .*(limit|concurren)|max.*(array|aj).*instances/i, 'throttle'],
  [/limit (rule|exceed)|exceeds? limit|resource quota|because it exceeds/i, 'quota']
]

/** Answers by job number; jobs that ended in between are not there. */
export function parseDetails(xml: string): Map<string, Detail> {
  const details = new Map<string, Detail>()
  // When all jobs asked for are gone, another root says so.
  if (/^\s*(<\?xml[^>]*\?>)?\s*<unknown_jobs\b/.test(xml)) return details
  const root = parseXml(xml, 'qstat -j', 'detailed_job_info')
  for (const element of childrenOf(childOf(root, 'djob_info'), 'element')) {
    const id = textOf(element, 'JB_job_number')
    if (id === undefined) continue
    details.set(id, {
      ...readPositive(element, 'JB_execution_time', 'startAfter', SECOND_MS),
      ...readPositive(element, 'JB_ja_task_concurrency', 'taskLimit', 1)
    })
  }
  const sentences = new Map<string, string[]>()
  for (const part of childrenOf(childOf(root, 'messages'), 'element')) {
    for (const message of childrenOf(childOf(part, 'SME_message_list'), 'element')) {
      const text = textOf(message, 'MES_message') ?? ''
      for (const job of childrenOf(childOf(message, 'MES_job_number_list'), 'ulong_sublist')) {
        const id = textOf(job, 'ULNG_value')
        if (id === undefined) continue
        const known = sentences.get(id)
        if (known === undefined) sentences.set(id, [text])
        else known.push(text)
      }
    }
  }
  for (const [id, texts] of sentences) {
    const detail = details.get(id)
    if (detail !== undefined) details.set(id, { ...detail, ...judgeSentences(texts) })
  }
  return details
}

function judgeSentences(texts: readonly string[]): Pick<Detail, 'reason' | 'reasonText'> {
  const found = SENTENCES.find(([pattern]) => texts.some((text) => pattern.test(text)))
  const reasonText = texts.slice(0, REASONS_MAX).join('; ')
  return { ...(found === undefined ? {} : { reason: found[1] }), reasonText }
}

function readPositive<K extends string>(
  element: XmlElement,
  name: string,
  key: K,
  factor: number
): Partial<Record<K, number>> {
  const text = textOf(element, name) ?? ''
  const value = /^\d{1,15}$/.test(text) ? Number(text) * factor : 0
  return value > 0 ? ({ [key]: value } as Record<K, number>) : {}
}

/**
 * The jobs to ask about, oldest first. Arrays may be throttled; a priority of 0 is what jobs with a later start or not
 * yet looked at have; requests may be for something that no host has.
 */
export function chooseForDetails(waiting: readonly WaitingJob[], most: number): string[] {
  return waiting
    .filter(({ facts: { state, tasks }, priority, hasRequests }) => {
      if (state !== 'queued' && state !== 'requeued') return false
      return tasks > 1 || priority === 0 || hasRequests
    })
    .sort((a, b) => a.facts.submittedAt - b.facts.submittedAt)
    .slice(0, most)
    .map(({ facts }) => facts.id)
}

export function addDetail(job: JobFacts, detail: Detail | undefined): JobFacts {
  return detail === undefined ? job : { ...detail, ...job }
}
