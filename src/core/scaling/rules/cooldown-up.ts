/** After adding, nothing is added for a while. Separate from the one for removing. */
import type { ClusterRule } from '../rule.js'
import { formatDuration } from '../text.js'

export const cooldownUp: ClusterRule = {
  name: 'cooldown-up',
  phase: 'add',
  judge({ history, config, now }) {
    const { lastAddAt } = history
    if (config.cooldownUpMs === 0 || lastAddAt === undefined) {
      return { answer: 'not-applicable', facts: {}, sentence: 'nothing to cool down from' }
    }
    const since = now - lastAddAt
    const facts = {
      sinceAddSeconds: Math.floor(since / 1000),
      cooldownSeconds: config.cooldownUpMs / 1000
    }
    const sentence = `hosts were added ${formatDuration(since)} ago`
    return { answer: since < config.cooldownUpMs ? 'deny' : 'allow', facts, sentence }
  }
}
