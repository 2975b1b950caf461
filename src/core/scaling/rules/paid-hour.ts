/**
 * Document 004, removing, 4: the host is past 45 minutes of its hour. Every begun hour is paid, so
 * one that has just been paid for is worth keeping, and one that is nearly over is not worth renewing.
 */
import type { HostRule } from '../rule.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export const paidHour: HostRule = {
  name: 'paid-hour',
  facts: ({ config: { billing } }) =>
    billing.kind === 'hour' ? { killAfterMinutes: billing.killAfterMinutes } : undefined,
  refuse({ config: { billing }, now }, host) {
    if (billing.kind !== 'hour') return undefined
    if (host.launchedAt === undefined) return `nobody knows when ${host.name} was launched`
    const into = intoHour(host.launchedAt, now)
    if (into >= billing.killAfterMinutes * MINUTE_MS) return undefined
    return `${host.name} is ${Math.floor(into / MINUTE_MS)} min into its hour`
  }
}

/** How much of the present hour has gone. */
export function intoHour(launchedAt: number, now: number): number {
  return Math.max(0, now - launchedAt) % HOUR_MS
}
