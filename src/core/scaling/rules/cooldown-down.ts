/** After a change in either direction nothing is removed for a while, so that its effect can be seen. */
import type { HostRule } from '../rule.js'
import type { Situation } from '../situation.js'
import { formatDuration } from '../text.js'

export const cooldownDown: HostRule = {
  name: 'cooldown-down',
  facts: (situation) => {
    const since = sinceChange(situation)
    if (since === undefined) return undefined
    return {
      sinceChangeSeconds: Math.floor(since / 1000),
      cooldownSeconds: situation.config.cooldownDownMs / 1000
    }
  },
  refuse(situation, host) {
    const since = sinceChange(situation)
    if (since === undefined || since >= situation.config.cooldownDownMs) return undefined
    return `${host.name} may not go yet: the cluster was changed ${formatDuration(since)} ago`
  }
}

function sinceChange({ history, now }: Situation): number | undefined {
  const last = Math.max(history.lastAddAt ?? -Infinity, history.lastRemoveAt ?? -Infinity)
  return last === -Infinity ? undefined : now - last
}
