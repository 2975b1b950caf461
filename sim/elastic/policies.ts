/**
 * What is compared: document 004 to the letter and as it was coded, the same criteria made right (the default), and the
 * prompt policy, which lets the forecast decide instead of a fixed wait.
 */
import type { ScalingConfig } from '../../src/core/scaling/config.js'
import { DEFAULT_CONFIG, PROMPT_CONFIG } from '../../src/core/scaling/config.js'
import { decide } from '../../src/core/scaling/decide.js'
import type { Action } from '../../src/core/scaling/decision.js'
import type { Facts } from '../../src/core/scaling/facts.js'
import { createHistory, remember } from '../../src/core/scaling/history.js'
import { decide004, decideAsWritten, DEFAULT_004 } from '../../src/core/scaling/policy-004.js'

export type BillingKind = 'hour' | 'second'

export interface PolicyLimits {
  readonly hostsMin: number
  readonly hostsMax: number
  readonly billing: BillingKind
}

export interface Pass {
  readonly actions: readonly Action[]
  readonly crash?: string
}

export interface Policy {
  readonly name: string
  /** Whether a host that is closed is looked at again before it is taken away. */
  readonly drains: boolean
  start(limits: PolicyLimits, now: number): (facts: Facts) => Pass
}

export const AS_CODED: Policy = {
  name: 'document 004 as coded',
  drains: false,
  start(limits, now) {
    let changedAt = now
    return (facts) => {
      const pass = decide004(facts, { ...DEFAULT_004, ...limits }, changedAt)
      if (pass.actions.length > 0) changedAt = facts.at
      return pass
    }
  }
}

export const AS_WRITTEN: Policy = {
  name: 'document 004 as written',
  drains: false,
  start: (limits) => (facts) => decideAsWritten(facts, { ...DEFAULT_004, ...limits })
}

export function policyOf(name: string, choose: (limits: PolicyLimits) => ScalingConfig): Policy {
  return {
    name,
    drains: true,
    start(limits, now) {
      const { hostsMin, hostsMax } = limits
      const config = { ...choose(limits), hostsMin, hostsMax }
      let history = createHistory(now)
      return (facts) => {
        const decision = decide(facts, config, history)
        history = remember(history, facts, decision)
        return decision
      }
    }
  }
}

export const DEFAULT_POLICY = policyOf('default', () => DEFAULT_CONFIG)

export const PROMPT_POLICY = policyOf('prompt', ({ billing }) => PROMPT_CONFIG[billing])

export const POLICIES: readonly Policy[] = [AS_WRITTEN, AS_CODED, DEFAULT_POLICY, PROMPT_POLICY]
