/**
 * Document 004's diagram: will the queue still hold items when a new host is up? If the present hosts
 * will have started everything by then, a new one would come too late to help. A forecast that has
 * been wrong for twice the time that jobs are meant to wait is not believed any more.
 *
 * Where hosts must be worth their work (`workPerHostMs`), less than that still brings one, but not one
 * a pass: the next only when the last has had the time to show what it does.
 */
import type { ClusterRule } from '../rule.js'
import type { Situation } from '../situation.js'
import { countOf, formatDuration } from '../text.js'

/** Times the wait that is meant to be. */
const PATIENCE = 2

export const drainForecast: ClusterRule = {
  name: 'drain-forecast',
  phase: 'add',
  judge(situation) {
    const { config, packing, forecast, durations, bootMs } = situation
    const facts = { finished: durations.count, bootSeconds: Math.round(bootMs / 1000) }
    const skip = (sentence: string) => ({ answer: 'not-applicable', facts, sentence }) as const
    if (!config.forecast) return skip('switched off')
    if (packing.needed === 0) return skip('nothing lacks room')
    if (durations.count < config.forecastSamplesMin) {
      return skip(`only ${countOf(durations.count, 'finished job')} to foretell from`)
    }
    if (forecast === undefined) return skip('the queue is too varied to foretell')
    const all = {
      ...facts,
      durationSeconds: Math.round(durations.meanMs / 1000),
      waiting: forecast.tasks,
      left: forecast.left,
      needed: forecast.needed
    }
    const boot = formatDuration(bootMs)
    if (forecast.needed > 0) {
      const sentence = `${forecast.left} of ${countOf(forecast.tasks, 'task')} will still wait when a new host is up in ${boot}`
      return { answer: 'allow', facts: all, sentence }
    }
    if (isFirst(situation)) {
      const sentence = `${countOf(forecast.left, 'task')} will still wait in ${boot}, which is reason for one host`
      return { answer: 'allow', facts: all, sentence }
    }
    if (isOverdue(situation)) {
      const sentence = 'the forecast says that no host is needed, and has been wrong for too long'
      return { answer: 'allow', facts: all, sentence }
    }
    const sentence =
      forecast.left === 0
        ? `the present hosts will have started all ${countOf(forecast.tasks, 'task')} before a new one is up in ${boot}`
        : `the ${countOf(forecast.left, 'task')} still waiting in ${boot} are too little work for another host`
    return { answer: 'deny', facts: all, sentence }
  }
}

function isOverdue({ demand, now, config, bootMs }: Situation): boolean {
  const oldest = demand.helpable.at(0)
  if (oldest === undefined) return false
  const patience = Math.max(config.jobWaitMs, bootMs, config.workPerHostMs)
  return now - oldest.since > PATIENCE * patience
}

/** Something will be left, and no host has been added for it lately. */
function isFirst({ forecast, history, booting, config, now }: Situation): boolean {
  if (forecast === undefined || forecast.left === 0 || booting.length > 0) return false
  return now - (history.lastAddAt ?? -Infinity) >= config.workPerHostMs
}

/** Hosts to add for what waits: by the packing, or fewer by the forecast. */
export function countNeeded(situation: Situation): number {
  const { packing, forecast } = situation
  if (forecast === undefined) return packing.needed
  const least = isFirst(situation) || isOverdue(situation) ? 1 : 0
  return Math.min(packing.needed, Math.max(forecast.needed, least))
}
