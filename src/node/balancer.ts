/**
 * Load-level events: ask another node how much it holds, and act on the answer. Often while there is something to
 * gain, seldom at rest, and at once after a move. A node that has nothing to give does not ask; its
 * heartbeats are the documents' PINGs.
 */
import { NOBODY, type NodeIndex } from '../core/ids.js'
import type { Action, Plan, Verdict } from '../core/placement/action.js'
import { isDispensable } from '../core/placement/release.js'
import type { RuleSet } from '../core/placement/rule.js'
import { judgeOversize, judgeSplit } from '../core/placement/split.js'
import { nextMask } from '../core/mask.js'
import type { BucketState } from './bucket-state.js'
import type { Cluster } from './cluster.js'
import { holdersOf } from './knowledge.js'
import type { Moves } from './moves.js'
import type { Peer } from './peers.js'

export class Balancer {
  readonly #cluster: Cluster
  readonly #rules: RuleSet
  readonly #moves: Moves
  readonly #split: (mask: number, reason: string) => void
  /** When the next load-level event fires. */
  due = 0
  /** The last plan, for those who want to know why nothing, or this, happens. */
  lastPlan: Plan | undefined
  /** How often each rule said yes and no. */
  readonly verdicts = new Map<string, { allowed: number; denied: number }>()
  /** To whom a move has just ended well. */
  #followed: Peer | undefined

  constructor(
    cluster: Cluster,
    parts: { rules: RuleSet; moves: Moves; split: (mask: number, reason: string) => void }
  ) {
    this.#cluster = cluster
    this.#rules = parts.rules
    this.#moves = parts.moves
    this.#split = parts.split
  }

  /** Something changed: look at once. */
  wake(): void {
    this.due = Math.min(this.due, this.#cluster.now)
  }

  /** A move has ended well, to that node if it began here. */
  follow(target?: Peer): void {
    this.wake()
    this.#followed = target
  }

  /**
   * The end of a turn. What a node holds that was just given something is in the table and need not be asked for:
   * the next move follows at once. The question, its answer and the wait for a tick would take as long as the move.
   */
  flush(): void {
    const target = this.#followed
    if (target === undefined) return
    this.#followed = undefined
    const { view, table } = this.#cluster
    const node = table.indexOf(target.name)
    // The documents' own rules go by answers.
    if (this.#rules.name !== 'current' || !target.isOpen || node === NOBODY) return
    this.onLevel(target, view.levelOf(node))
  }

  /** The other side was not ready: not again at once, and not in step with others. */
  backOff(): void {
    const { now, config, random } = this.#cluster
    this.due = Math.max(this.due, now + config.askFastMs + random.below(config.askFastMs))
  }

  tick(): void {
    const { now, config, view, table, peers, random } = this.#cluster
    if (now < this.due) return
    const split = judgeSplit(view)
    const oversize = split.allow ? split : this.#judgeSizes()
    if (oversize?.allow === true) this.#split(nextMask(table.mask), oversize.reason)
    if (this.#moves.busy) {
      this.due = now + config.askFastMs
      return
    }
    const other = this.#rules.ask(view, random)
    const peer = other === NOBODY ? undefined : this.#cluster.peerOf(other)
    this.due = now + (other === NOBODY ? config.askSlowMs : config.askFastMs)
    if (config.sabotage === 'restless') this.#stir()
    if (peer === undefined) {
      if (other !== NOBODY) this.#decideWithout(other)
      return
    }
    if (!peers.isStalled(peer, now)) peers.send(peer, { kind: 'levelAsk' }, now)
  }

  /** One of this node's buckets may be far larger than the rest. */
  #judgeSizes(): Verdict | undefined {
    const { buckets, config, table } = this.#cluster
    const { splitFactor, splitBytesMin } = config
    // Asked many times a second: as a rule none is large enough to be worth a list of all.
    const isLarge = (state: BucketState | undefined): boolean =>
      state?.role === 'primary' && state.items.bytes >= splitBytesMin
    if (!buckets.some(isLarge)) return undefined
    const sizes = []
    for (const state of buckets) {
      if (state?.role === 'primary') sizes.push({ bucket: state.id, bytes: state.items.bytes })
    }
    return judgeOversize(sizes, { factor: splitFactor, bytesMin: splitBytesMin, mask: table.mask })
  }

  /** The answer came. */
  onLevel(peer: Peer, level: { primaries: number; backups: number; transferring: boolean }): void {
    const { view, table } = this.#cluster
    const node = table.indexOf(peer.name)
    if (node === NOBODY || this.#moves.busy) return
    const plan = this.#rules.plan(view, { node, ...level })
    this.lastPlan = plan
    this.#count(plan)
    if (plan.action !== undefined) this.#act(plan.action, plan.reason)
  }

  #count({ verdicts }: Plan): void {
    for (const { rule, allow } of verdicts) {
      const known = this.verdicts.get(rule) ?? { allowed: 0, denied: 0 }
      if (allow) known.allowed++
      else known.denied++
      this.verdicts.set(rule, known)
    }
  }

  /** A copy on a node that cannot be asked any more is only struck from the row. */
  #decideWithout(node: number): void {
    const { view } = this.#cluster
    const plan = this.#rules.plan(view, { ...view.levelOf(node), transferring: false })
    if (plan.action?.kind === 'release') this.#act(plan.action, plan.reason)
  }

  #act(action: Action, reason: string): void {
    const { table, view } = this.#cluster
    switch (action.kind) {
      case 'split':
        this.#split(nextMask(table.mask), reason)
        return
      case 'switch':
        this.#moves.beginSwitch(action.bucket, action.to, reason)
        return
      case 'copy':
        this.#moves.begin({ ...action, role: 'backup', beyondShare: true, reason })
        return
      case 'release': {
        const { bucket, to } = action
        const isWanted = (): boolean => this.#mayRelease(bucket, to)
        if (!isWanted()) return
        const holders = holdersOf(table, bucket).filter((node) => node !== to)
        const done = (): void => this.wake()
        this.#cluster.changeRows([{ bucket, holders }], reason, { isWanted, done })
        return
      }
      case 'move': {
        const { bucket, to } = action
        const beyondShare = action.beyondShare === true
        if (table.primaryOf(bucket) === view.self) {
          this.#moves.begin({ bucket, to, role: 'primary', replaces: NOBODY, beyondShare, reason })
          return
        }
        const [mask, epoch] = [table.mask, table.epochOf(bucket)]
        this.#moves.ask({
          kind: 'ship',
          bucket,
          mask,
          epoch,
          to: table.nameOf(to),
          beyondShare,
          reason
        })
      }
    }
  }

  /** A node that came back with nothing is named as the primary until its backup has taken over, and has no say. */
  #mayRelease(bucket: number, node: NodeIndex): boolean {
    const { view, buckets } = this.#cluster
    return buckets[bucket]?.role === 'primary' && isDispensable(view, bucket, node)
  }

  /** The planted defect of a balancer that never rests. */
  #stir(): void {
    const { buckets, random } = this.#cluster
    const state = buckets[random.below(buckets.length)]
    if (state?.role !== 'primary' || state.backups.length === 0) return
    const to = this.#cluster.table.indexOf(state.backups[0].name)
    this.#moves.beginSwitch(state.id, to, 'restless')
  }
}
