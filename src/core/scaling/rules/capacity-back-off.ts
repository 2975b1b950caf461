/** A provider that had no machine to give is not asked again at once. */
import { standingOf } from '../back-off.js'
import type { ClusterRule } from '../rule.js'
import { countOf, formatDuration } from '../text.js'

export const capacityBackOff: ClusterRule = {
  name: 'capacity-back-off',
  phase: 'add',
  judge({ facts: { provider }, config, now }) {
    const standing = standingOf({
      failures: provider.capacityFailures,
      forgivenAt: provider.lastBootAt,
      backOff: config.capacityBackOff,
      now
    })
    const facts = { failuresInARow: standing.inARow }
    if (standing.inARow === 0) {
      return { answer: 'not-applicable', facts, sentence: 'the provider has refused nothing' }
    }
    const what = `the provider refused ${countOf(standing.inARow, 'time')} in a row (${standing.lastReason})`
    return now < standing.until
      ? {
          answer: 'deny',
          facts,
          sentence: `${what}: next try in ${formatDuration(standing.until - now)}`
        }
      : { answer: 'allow', facts, sentence: `${what}, long enough ago for another try` }
  }
}
