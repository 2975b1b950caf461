/**
 * The five rules at the end of document 001: switch if the target has more backups than primaries and
 * neither end's ratio is reversed (1), else send a bucket if the target has less (2). Only the primary may
 * send a bucket; the target becomes its backup, and the old backup is discarded (3). The bucket a node sent
 * last is neither sent nor switched (4), and the node that loses its backup must have more than the target (5).
 *
 * Because a third node loses what the target gets, the totals of sender and target say little about the balance:
 * at four nodes the rules shuffle buckets for ever, as the document itself observes ("how can we identify
 * this situation?"). They are kept to be compared with.
 */
import { NOBODY, type NodeIndex } from '../ids.js'
import type { Random } from '../random.js'
import { deny, type Action, type Plan, type Verdict } from './action.js'
import {
  acceptUnlessBusy,
  AskingOrder,
  choose,
  findPrimary,
  planFirst,
  proposeMissing,
  type Proposal
} from './pairwise.js'
import { isDenied, judge, type Rule, type RuleSet } from './rule.js'
import { lastMovedStays } from './rules/last-moved-stays.js'
import { oldBackupHasMore } from './rules/old-backup-has-more.js'
import { oneCopyANode } from './rules/one-copy-a-node.js'
import { oneTransfer } from './rules/one-transfer.js'
import { primaryAsBackup } from './rules/primary-as-backup.js'
import { ratioNotReversed } from './rules/ratio-not-reversed.js'
import { sourceKeepsMajority } from './rules/source-keeps-majority.js'
import { targetHasLess } from './rules/target-has-less.js'
import type { LoadLevel, View } from './view.js'

interface Sending {
  readonly bucket: number
  readonly to: NodeIndex
}

export class Rules2012 implements RuleSet {
  readonly name = '2012'
  readonly #asking = new AskingOrder()
  readonly #lastMoved = new WeakMap<View, number>()
  /** Planned, but not yet seen in the table: the target may have refused it. */
  readonly #sending = new WeakMap<View, Sending>()
  readonly #lastMovedStays = lastMovedStays((view) => this.lastMovedOf(view))
  readonly #switchRules: readonly Rule[] = [
    ratioNotReversed,
    this.#lastMovedStays,
    sourceKeepsMajority,
    oneTransfer
  ]
  readonly #sendRules: readonly Rule[] = [
    oneTransfer,
    primaryAsBackup,
    targetHasLess,
    oldBackupHasMore,
    oneCopyANode,
    this.#lastMovedStays
  ]

  /** The star of the document's pictures, on the node that sent the bucket; -1 where there is none. */
  lastMovedOf(view: View): number {
    const sending = this.#sending.get(view)
    if (sending !== undefined && view.table.isHolder(sending.bucket, sending.to)) {
      this.markLastMoved(view, sending.bucket)
    }
    return this.#lastMoved.get(view) ?? -1
  }

  markLastMoved(view: View, bucket: number): void {
    this.#lastMoved.set(view, bucket)
    this.#sending.delete(view)
  }

  ask(view: View, random: Random): NodeIndex {
    if (view.transferring || view.roster.get(view.self) === undefined) return NOBODY
    return this.#asking.next(view, random)
  }

  plan(view: View, answer: LoadLevel): Plan {
    const plan =
      planFirst(view, answer) ??
      choose(view, answer, [
        () => this.#proposeSwitch(view, answer),
        () => this.#proposeSend(view, answer),
        // Not a rule of the document: what a leaving node held must find a place somewhere.
        () => proposeMissing(view, answer)
      ])
    if (plan.action?.kind === 'copy') {
      this.lastMovedOf(view)
      this.#sending.set(view, { bucket: plan.action.bucket, to: plan.action.to })
    }
    return plan
  }

  accept(view: View, action: Action): Verdict {
    return acceptUnlessBusy(view, action)
  }

  #proposeSwitch(view: View, answer: LoadLevel): Proposal {
    const last = this.lastMovedOf(view)
    const shared = (b: number): boolean => view.table.isHolder(b, answer.node)
    let bucket = findPrimary(view, (b) => b !== last && shared(b))
    // Only the starred one is left: a rule will deny it and say why.
    if (bucket === -1) bucket = findPrimary(view, shared)
    return {
      action: bucket === -1 ? undefined : { kind: 'switch', bucket, to: answer.node },
      rules: this.#switchRules,
      because: 'ratio-not-reversed',
      without: `no primary here has its backup on ${view.nameOf(answer.node)}`
    }
  }

  /** The first primary by number that no rule keeps; each old backup is judged once. */
  #proposeSend(view: View, answer: LoadLevel): Proposal {
    const { table } = view
    const last = this.lastMovedOf(view)
    const judged = new Map<NodeIndex, Verdict[]>()
    const without = `no primary here that could go to ${view.nameOf(answer.node)}`
    const bucket = findPrimary(view, (b) => {
      if (b === last || table.isHolder(b, answer.node)) return false
      const replaces = table.holderAt(b, 1)
      let verdicts = judged.get(replaces)
      if (verdicts === undefined) {
        const action: Action = { kind: 'copy', bucket: b, to: answer.node, replaces }
        verdicts = judge(this.#sendRules, { view, action, source: view.own, target: answer })
        judged.set(replaces, verdicts)
      }
      return !isDenied(verdicts)
    })
    if (bucket === -1) {
      const denials = [...judged.values()].flat().filter((verdict) => !verdict.allow)
      const reasons = [...new Set(denials.map((verdict) => verdict.reason))]
      const verdict = deny('target-has-less', reasons.join('; ') || without)
      return { action: undefined, rules: [], because: verdict.rule, without: verdict.reason }
    }
    const replaces = table.holderAt(bucket, 1)
    return {
      action: { kind: 'copy', bucket, to: answer.node, replaces },
      rules: this.#sendRules,
      because: replaces === NOBODY ? 'target-has-less' : 'old-backup-has-more',
      without
    }
  }
}
