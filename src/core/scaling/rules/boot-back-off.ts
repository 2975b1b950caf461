/**
 * Hosts that do not come up are not asked for again at once, and after many in a row not at all until
 * somebody has looked: a broken image would otherwise be launched and paid for all night.
 */
import { standingOf } from '../back-off.js'
import type { ClusterRule } from '../rule.js'
import { countOf, formatDuration } from '../text.js'

export const bootBackOff: ClusterRule = {
  name: 'boot-back-off',
  phase: 'add',
  judge({ facts: { provider }, config, now, overdue }) {
    const failures = [
      ...provider.bootFailures,
      // Not reported by the provider yet, but over time.
      ...overdue.map(({ name, since }) => ({
        at: since + config.bootTimeoutMs,
        reason: `${name} did not come up`
      }))
    ]
    const standing = standingOf({
      failures,
      forgivenAt: provider.lastBootAt,
      backOff: config.bootBackOff,
      now
    })
    const facts = { failuresInARow: standing.inARow, failuresMax: config.bootFailuresMax }
    if (standing.inARow === 0) {
      return { answer: 'not-applicable', facts, sentence: 'no boot has failed' }
    }
    const what = `${countOf(standing.inARow, 'boot')} failed in a row (${standing.lastReason})`
    if (standing.inARow >= config.bootFailuresMax) {
      const sentence = `${what}: nothing is added until a host comes up or a day has passed`
      return { answer: 'deny', facts, sentence }
    }
    if (now < standing.until) {
      const sentence = `${what}: next try in ${formatDuration(standing.until - now)}`
      return { answer: 'deny', facts, sentence }
    }
    return { answer: 'allow', facts, sentence: `${what}, long enough ago for another try` }
  }
}
