/** Document 004, removing, 2: the host is idle. A suspended job is a job, and so is one of which only the slots are seen. */
import type { HostRule } from '../rule.js'
import { isIdle } from '../situation.js'
import { countOf } from '../text.js'

export const hostIdle: HostRule = {
  name: 'host-idle',
  facts: ({ jobsOn }) => ({ busy: jobsOn.size }),
  refuse(situation, host) {
    if (isIdle(situation, host)) return undefined
    const jobs = situation.jobsOn.get(host.name) ?? 0
    return `${host.name} runs ${jobs > 0 ? countOf(jobs, 'job') : `on ${countOf(host.used, 'slot')}`}`
  }
}
