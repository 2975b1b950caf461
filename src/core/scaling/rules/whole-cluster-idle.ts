/**
 * `--kill-cluster`: the master goes too, last, when it is alone and past its own billing rule, and
 * nothing is known of: no job of any kind, held ones too, and no host on its way.
 */
import type { ClusterRule } from '../rule.js'
import { isIdle, isProtected } from '../situation.js'
import { countOf } from '../text.js'
import { idleTime } from './idle-time.js'
import { paidHour } from './paid-hour.js'

export const wholeClusterIdle: ClusterRule = {
  name: 'whole-cluster-idle',
  phase: 'remove',
  judge(situation) {
    const { config, facts, machines, hostsMin } = situation
    const seen = { jobs: facts.jobs.length, machines }
    const deny = (sentence: string) => ({ answer: 'deny', facts: seen, sentence }) as const
    if (!config.killCluster) {
      return { answer: 'not-applicable', facts: {}, sentence: 'the cluster is not to be ended' }
    }
    if (facts.jobs.length > 0) return deny(`${countOf(facts.jobs.length, 'job')} in the queue`)
    if (machines !== 1 || facts.hosts.length !== 1) return deny(`${countOf(machines, 'host')} up`)
    if (hostsMin > 1) return deny(`the minimum is ${hostsMin}`)
    const master = facts.hosts[0]
    if (!isIdle(situation, master)) return deny(`${master.name} is busy`)
    if (isProtected(config, master)) return deny(`${master.name} is protected`)
    const why = paidHour.refuse(situation, master) ?? idleTime.refuse(situation, master)
    if (why !== undefined) return deny(why)
    return { answer: 'allow', facts: seen, sentence: 'nothing runs, waits or boots' }
  }
}
