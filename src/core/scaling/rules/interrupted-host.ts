/** A host whose end the provider has announced takes no new jobs; its present ones may finish in time. */
import type { HostRule } from '../rule.js'

export const interruptedHost: HostRule = {
  name: 'interrupted-host',
  facts: () => ({}),
  refuse: (_, host) =>
    host.state === 'ready' || host.state === 'alarm' ? undefined : `${host.name} is closed already`
}
