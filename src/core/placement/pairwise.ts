/**
 * What the rule sets of the two documents have in common: nodes compare load levels two by two, go
 * through what they could do in the order of their rules, and do the first thing that no rule denies. A
 * node that leaves is the same in both: its primaries are switched to their backups whatever the
 * balance, and the new primaries make the missing backups elsewhere.
 *
 * Whom to ask: a lap through all the others in an order drawn from chance, then another lap. The original
 * asks every connected node in turn; drawing a node each time instead would leave some pairs
 * unasked for so long that a cluster at work could be taken for one at rest.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import type { Random } from '../random.js'
import { MAX_COPIES } from '../table.js'
import { allow, deny, formatBucket, type Action, type Plan, type Verdict } from './action.js'
import { isDispensable } from './release.js'
import { isDenied, judge, type Rule } from './rule.js'
import { lacksBackup } from './rules/lacks-backup.js'
import { oneTransfer } from './rules/one-transfer.js'
import { judgeSplit } from './split.js'
import type { LoadLevel, View } from './view.js'

export class AskingOrder {
  readonly #laps = new WeakMap<View, NodeIndex[]>()

  next(view: View, random: Random): NodeIndex {
    const { roster, self } = view
    let lap = this.#laps.get(view)?.filter((node) => roster.get(node) !== undefined) ?? []
    if (lap.length === 0) {
      // Leaving nodes are asked too: the last backup there may have to be struck.
      const others = roster.members.filter(({ node }) => node !== self).map(({ node }) => node)
      lap = random.shuffle(others)
    }
    const next = lap.pop() ?? NOBODY
    this.#laps.set(view, lap)
    return next
  }
}

export interface Proposal {
  /** The first bucket that fits, or nothing if none does. */
  readonly action: Action | undefined
  readonly rules: readonly Rule[]
  /** The rule whose reason says best why this is done. */
  readonly because: string
  /** What to say when there is no such bucket. */
  readonly without: string
}

/** Goes through the proposals in order; the first that no rule denies is the plan. */
export function choose(
  view: View,
  answer: LoadLevel,
  proposals: readonly (() => Proposal)[]
): Plan {
  const verdicts: Verdict[] = []
  for (const propose of proposals) {
    const { action, rules, because, without } = propose()
    if (action === undefined) {
      verdicts.push(deny(because, without))
      continue
    }
    const own = judge(rules, { view, action, source: view.own, target: answer })
    verdicts.push(...own)
    if (isDenied(own)) continue
    const reason = own.find((verdict) => verdict.rule === because)?.reason ?? because
    return { action, reason, verdicts }
  }
  const denials = verdicts.filter((verdict) => !verdict.allow).map((verdict) => verdict.reason)
  return { action: undefined, reason: [...new Set(denials)].join('; '), verdicts }
}

/** What comes before all balancing: splitting, waiting for a transfer, leaving. */
export function planFirst(view: View, answer: LoadLevel): Plan | undefined {
  const { roster, self } = view
  if (roster.get(self) === undefined) {
    return { action: undefined, reason: 'not a member', verdicts: [] }
  }
  const split = judgeSplit(view)
  if (split.allow && roster.isStaying(self)) {
    return { action: { kind: 'split' }, reason: split.reason, verdicts: [split] }
  }
  // While a bucket travels, load levels are not acted upon (both documents).
  if (view.transferring || answer.transferring) {
    const busy = view.nameOf(view.transferring ? self : answer.node)
    const verdict = deny('one-transfer', `${busy} is already in a transfer`)
    return { action: undefined, reason: verdict.reason, verdicts: [verdict] }
  }
  if (roster.isLeaving(self)) return planLeave(view, answer)
  if (roster.isLeaving(answer.node)) return planRelease(view, answer)
  return undefined
}

function planLeave(view: View, answer: LoadLevel): Plan {
  const { table, roster, self } = view
  const name = view.nameOf(self)
  if (!roster.isStaying(answer.node)) {
    return { action: undefined, reason: `${view.nameOf(answer.node)} is leaving too`, verdicts: [] }
  }
  const bucket = findPrimary(view, (b) => table.isHolder(b, answer.node))
  if (bucket !== -1) {
    const verdict = allow('leave', `${name} is leaving`)
    const action: Action = { kind: 'switch', bucket, to: answer.node }
    return { action, reason: verdict.reason, verdicts: [verdict] }
  }
  return choose(view, answer, [() => proposeMissing(view, answer)])
}

/** A backup on a leaving node is struck once the bucket has its copies without it. */
function planRelease(view: View, answer: LoadLevel): Plan {
  const name = view.nameOf(answer.node)
  const bucket = findPrimary(view, (b) => isDispensable(view, b, answer.node))
  if (bucket === -1) {
    const verdict = deny('leave', `${name} is leaving and gets nothing`)
    return { action: undefined, reason: verdict.reason, verdicts: [verdict] }
  }
  const verdict = allow('leave', `${formatBucket(bucket)} has all its copies without ${name}`)
  const action: Action = { kind: 'release', bucket, to: answer.node }
  return { action, reason: verdict.reason, verdicts: [verdict] }
}

/** A backup for a bucket of this node that has none, or only one on a leaving node. */
export function proposeMissing(view: View, answer: LoadLevel): Proposal {
  const { table, arrangement } = view
  const proposal = { rules: [oneTransfer, lacksBackup], because: 'lacks-backup' }
  const without = 'no bucket here lacks a backup'
  if (arrangement.missing === 0) return { ...proposal, action: undefined, without }
  const lacking = (b: number): boolean => lacksCopy(view, b) && !table.isHolder(b, answer.node)
  const bucket = findPrimary(view, lacking)
  if (bucket === -1) return { ...proposal, action: undefined, without }
  const replaces = leavingBackup(view, bucket)
  return { ...proposal, action: { kind: 'copy', bucket, to: answer.node, replaces }, without }
}

/** Whether this node is primary of a bucket that could have another copy. */
export function holdsLacking(view: View): boolean {
  return view.arrangement.missing > 0 && findPrimary(view, (b) => lacksCopy(view, b)) !== -1
}

/** A leaving primary does not count as a copy, nor does it have to be replaced where a backup stays. */
function lacksCopy(view: View, bucket: number): boolean {
  const wanted = view.roster.isLeaving(view.self) ? 1 : view.shares.copies
  return view.arrangement.countStaying(bucket) < wanted
}

/** The first bucket by number of which this node is primary and which fits; -1 if there is none. */
export function findPrimary(view: View, fits: (bucket: number) => boolean): number {
  const { table, self } = view
  for (let bucket = 0; bucket <= table.mask; bucket++) {
    if (table.primaryOf(bucket) === self && fits(bucket)) return bucket
  }
  return -1
}

function leavingBackup({ table, roster }: View, bucket: number): NodeIndex {
  for (let place = 1; place < MAX_COPIES; place++) {
    const node = table.holderAt(bucket, place)
    if (node !== NOBODY && !roster.isStaying(node)) return node
  }
  return NOBODY
}

/** The receiving end: "always accept new buckets, unless it is already receiving another". */
export function acceptUnlessBusy(view: View, action: Action): Verdict {
  const rule = 'accept'
  const name = view.nameOf(view.self)
  if (view.transferring) return deny(rule, `${name} is already in a transfer`)
  if (action.kind === 'move' || action.kind === 'copy') {
    if (view.table.isHolder(action.bucket, view.self)) return deny(rule, 'already held here')
    if (!view.roster.isStaying(view.self)) return deny(rule, `${name} is leaving`)
  }
  return allow(rule, `${name} is free`)
}
