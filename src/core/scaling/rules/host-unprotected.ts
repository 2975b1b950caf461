/** A protected host stays, and so does one that the provider did not launch and could not bring back. */
import type { HostRule } from '../rule.js'
import { isProtected } from '../situation.js'

export const hostUnprotected: HostRule = {
  name: 'host-unprotected',
  facts: ({ config }) => ({ protectedHosts: config.protectedHosts.join(' ') || 'none' }),
  refuse({ config }, host) {
    if (isProtected(config, host)) return `${host.name} is protected`
    return host.managed === false ? `${host.name} is not the provider's` : undefined
  }
}
