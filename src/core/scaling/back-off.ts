/**
 * How long to leave a provider alone after failures: twice as long after each in a row. A host that
 * came up forgives what failed before it, and so does a day without a try.
 */
import type { BackOff } from './config.js'
import type { ProviderFailure } from './facts.js'

const FORGIVEN_AFTER_MS = 24 * 3_600_000

export interface Standing {
  readonly inARow: number
  readonly lastAt: number
  readonly lastReason: string
  /** Nothing is tried before; 0 if nothing failed. */
  readonly until: number
}

export interface StandingOptions {
  readonly failures: readonly ProviderFailure[]
  readonly forgivenAt: number | undefined
  readonly backOff: BackOff
  readonly now: number
}

export function standingOf({ failures, forgivenAt, backOff, now }: StandingOptions): Standing {
  const since = Math.max(forgivenAt ?? -Infinity, now - FORGIVEN_AFTER_MS)
  let [inARow, lastAt, lastReason] = [0, 0, '']
  for (const failure of failures) {
    if (failure.at <= since) continue
    inARow++
    if (failure.at >= lastAt) [lastAt, lastReason] = [failure.at, failure.reason]
  }
  if (inARow === 0) return { inARow, lastAt, lastReason, until: 0 }
  const wait = Math.min(backOff.mostMs, backOff.firstMs * 2 ** Math.min(inARow - 1, 30))
  return { inARow, lastAt, lastReason, until: lastAt + wait }
}
