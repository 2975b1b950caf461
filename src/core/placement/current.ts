/**
 * The rule set in force. Every node holds the whole table, so each can compute what all should hold
 * (shares, quotas, homes) and pushes only its own part of the difference; the rules are the guards on each
 * step. In order: split if there are too few buckets; make copies that are missing; strike copies that
 * are too many; leave; bring copies in one zone apart; even out the totals; even out the primaries.
 *
 * Rejected: comparing load levels pair by pair, as the documents do. It ends at 8,6,6,6,6 with five
 * nodes, ships buckets twice, and with 24 nodes leaves primaries 8 apart.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import type { Random } from '../random.js'
import { MAX_COPIES, mix } from '../table.js'
import { allow, deny, formatBucket, type Action, type Plan, type Verdict } from './action.js'
import { isDispensable } from './release.js'
import { findStep } from './routes.js'
import { isDenied, judge, type Rule, type RuleSet } from './rule.js'
import { missingCopiesFirst } from './rules/missing-copies-first.js'
import { oneCopyANode } from './rules/one-copy-a-node.js'
import { oneTransfer } from './rules/one-transfer.js'
import { primaryShares } from './rules/primary-shares.js'
import { sourceAboveQuota } from './rules/source-above-quota.js'
import { targetBelowQuota } from './rules/target-below-quota.js'
import { zonesApart } from './rules/zones-apart.js'
import { judgeSplit } from './split.js'
import { findMove, findRelay, findTarget, findZoneMove } from './surplus.js'
import type { LoadLevel, View } from './view.js'

/** Missing copies among which a node picks the next one to make. */
const CHOICE = 8

interface Wish {
  readonly action: Action
  readonly why: string
  readonly rules: readonly Rule[]
}

const COPY_RULES: readonly Rule[] = [oneTransfer, oneCopyANode, zonesApart]
export const MOVE_RULES: readonly Rule[] = [
  oneTransfer,
  missingCopiesFirst,
  sourceAboveQuota,
  targetBelowQuota,
  oneCopyANode,
  zonesApart
]
const APART_RULES: readonly Rule[] = [oneTransfer, missingCopiesFirst, oneCopyANode, zonesApart]
export const SWITCH_RULES: readonly Rule[] = [oneTransfer, missingCopiesFirst, primaryShares]
const LEAVE_RULES: readonly Rule[] = [oneTransfer, primaryShares]

export class CurrentRules implements RuleSet {
  readonly name = 'current'
  ask(view: View, random: Random): NodeIndex {
    if (view.transferring) return NOBODY
    const salt = random.uint32()
    const { missing, goneHolds } = view.arrangement
    if (missing === 0 && !goneHolds && view.roster.uniform) {
      const target = findTarget(view, salt)
      if (target !== NOBODY) return target
    }
    const wish = this.#wish(view, salt)
    return wish === undefined || wish.action.kind === 'split' ? NOBODY : wish.action.to
  }

  plan(view: View, answer: LoadLevel): Plan {
    const split = judgeSplit(view)
    if (split.allow && view.roster.isStaying(view.self)) {
      return { action: { kind: 'split' }, reason: split.reason, verdicts: [split] }
    }
    // Most answers come from a node that is busy with someone else: no need to choose a bucket then.
    if (view.transferring || answer.transferring) {
      const busy = view.nameOf(view.transferring ? view.self : answer.node)
      const verdict = deny('one-transfer', `${busy} is already in a transfer`)
      return { action: undefined, reason: verdict.reason, verdicts: [verdict] }
    }
    const wish = this.#wish(view, 0, answer.node)
    if (wish === undefined) return { action: undefined, reason: 'nothing to do', verdicts: [split] }
    const candidate = { view, action: wish.action, source: view.own, target: answer }
    const verdicts = judge(wish.rules, candidate)
    if (isDenied(verdicts)) {
      return { action: undefined, reason: verdicts[verdicts.length - 1].reason, verdicts }
    }
    return { action: wish.action, reason: wish.why, verdicts }
  }

  accept(view: View, action: Action): Verdict {
    const rule = 'accept'
    if (view.transferring) return deny(rule, `${view.nameOf(view.self)} is already in a transfer`)
    if (action.kind === 'move' || action.kind === 'copy') {
      if (view.table.isHolder(action.bucket, view.self)) return deny(rule, 'already held here')
      if (!view.roster.isStaying(view.self)) {
        return deny(rule, `${view.nameOf(view.self)} is leaving`)
      }
      const expected =
        action.kind === 'copy'
          ? view.arrangement.isHome(action.bucket, view.self)
          : action.beyondShare === true
      if (!expected && view.table.totalOf(view.self) >= view.quotaOf(view.self)) {
        return deny(rule, `${view.nameOf(view.self)} has its share`)
      }
    }
    return allow(rule, `${view.nameOf(view.self)} is free`)
  }

  /** What this node would do next, towards `only` one node if given. */
  #wish(view: View, salt: number, only: NodeIndex = NOBODY): Wish | undefined {
    const { roster, self } = view
    if (roster.get(self) === undefined) return undefined
    if (view.arrangement.missing > 0) {
      const copy = this.#missingCopy(view, salt, only)
      if (copy !== undefined) return copy
      return roster.isLeaving(self) ? this.#handOff(view, only) : undefined
    }
    const release = findRelease(view, only)
    if (release !== undefined) return release
    if (roster.isLeaving(self)) return this.#handOff(view, only)
    const apart = findZoneMove(view, only)
    if (apart !== undefined) {
      return { action: apart, why: 'all its copies are in one zone', rules: APART_RULES }
    }
    const surplus = findMove(view, salt, only)
    if (surplus !== undefined) {
      const why = `${view.nameOf(self)} is above its share, ${view.nameOf(surplus.to)} below`
      return { action: surplus, why, rules: MOVE_RULES }
    }
    const relay = findRelay(view, only)
    if (relay !== undefined) {
      const why = `${view.nameOf(relay.to)} can pass a bucket on where ${view.nameOf(self)} cannot`
      return { action: relay, why, rules: APART_RULES }
    }
    return this.#primarySwitch(view, only)
  }

  #missingCopy(view: View, salt: number, only: NodeIndex): Wish | undefined {
    const { table, roster, self, arrangement } = view
    let chosen: Extract<Action, { kind: 'copy' }> | undefined
    let [best, seen] = [-1, 0]
    for (const { bucket, to } of arrangement.homeless(self)) {
      if (only !== NOBODY && to !== only) continue
      if (roster.isLeaving(self) && stayingBackup(view, bucket) !== NOBODY) continue
      // Of the first few, which are the most endangered, any: not all should ask the same node.
      const score = mix(salt ^ mix(to))
      if (score > best) {
        chosen = { kind: 'copy', bucket, to, replaces: leavingBackup(view, bucket) }
        best = score
      }
      if (only !== NOBODY || ++seen >= CHOICE) break
    }
    if (chosen === undefined || table.isHolder(chosen.bucket, chosen.to)) return undefined
    const why = `${formatBucket(chosen.bucket)} lacks a copy and ${view.nameOf(chosen.to)} has room`
    return { action: chosen, why, rules: COPY_RULES }
  }

  /** A leaving node gives its primaries to their backups at once; the new primaries do the rest. */
  #handOff(view: View, only: NodeIndex): Wish | undefined {
    const { table, self } = view
    for (let bucket = 0; bucket <= table.mask; bucket++) {
      if (table.primaryOf(bucket) !== self) continue
      const to = stayingBackup(view, bucket)
      if (to === NOBODY || (only !== NOBODY && to !== only)) continue
      const why = `${view.nameOf(self)} is leaving`
      return { action: { kind: 'switch', bucket, to }, why, rules: LEAVE_RULES }
    }
    return undefined
  }

  #primarySwitch(view: View, only: NodeIndex): Wish | undefined {
    if (!view.arrangement.fair) return undefined
    const step = findStep(view)
    if (step === undefined || (only !== NOBODY && step.to !== only)) return undefined
    const why =
      step.further === 0
        ? `${view.nameOf(view.self)} has more primaries than its share, ${view.nameOf(step.to)} fewer`
        : `${view.nameOf(step.to)} can pass a primary on towards a node that lacks one`
    return {
      action: { kind: 'switch', bucket: step.bucket, to: step.to },
      why,
      rules: SWITCH_RULES
    }
  }
}

/** The staying backup that has the fewest primaries for its share. */
function stayingBackup({ table, roster, shares }: View, bucket: number): NodeIndex {
  let best = NOBODY
  for (let place = 1; place < MAX_COPIES; place++) {
    const node = table.holderAt(bucket, place)
    if (!roster.isStaying(node)) continue
    const need = table.primariesOf(node) - shares.primaryHigh[node]
    if (best === NOBODY || need < table.primariesOf(best) - shares.primaryHigh[best]) best = node
  }
  return best
}

function leavingBackup({ table, roster }: View, bucket: number): NodeIndex {
  for (let place = 1; place < MAX_COPIES; place++) {
    const node = table.holderAt(bucket, place)
    if (node !== NOBODY && !roster.isStaying(node)) return node
  }
  return NOBODY
}

/** A backup of one of this node's primaries that is one too many: on a leaving node, or over the number. */
function findRelease(view: View, only: NodeIndex): Wish | undefined {
  const { table, self, shares, arrangement } = view
  if (arrangement.surplus === 0) return undefined
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    if (table.primaryOf(bucket) !== self) continue
    let surplus = leavingBackup(view, bucket)
    if (surplus === NOBODY && table.copiesOf(bucket) > shares.copies)
      surplus = table.holderAt(bucket, shares.copies)
    if (surplus === NOBODY || (only !== NOBODY && surplus !== only)) continue
    if (!isDispensable(view, bucket, surplus)) continue
    const why = `${formatBucket(bucket)} has all its copies without ${view.nameOf(surplus)}`
    return { action: { kind: 'release', bucket, to: surplus }, why, rules: [] }
  }
  return undefined
}
