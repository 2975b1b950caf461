/** Document 004, removing, 3: the host is not the master. */
import type { HostRule } from '../rule.js'

export const notMaster: HostRule = {
  name: 'not-master',
  facts: () => ({}),
  refuse: (_, host) => (host.role === 'master' ? `${host.name} is the master` : undefined)
}
