/**
 * A cluster of nothing but rules: nodes that ask each other for their load and push buckets, with no
 * data and no sockets. Time goes in rounds; in each, every node's load-level event fires once, in an
 * order drawn from the seed. Answers can be late, transfers take a drawn number of rounds, and with `lag`
 * every node has a table of its own that hears of changes late, so that what is decided on stale knowledge
 * is decided here as well. A change of a row is a compare-and-set against the one true table.
 */
import { assert } from '../../src/core/assert.js'
import { NOBODY, nodeName, type NodeIndex } from '../../src/core/ids.js'
import { maskOf, nextMask } from '../../src/core/mask.js'
import type { Action, Plan } from '../../src/core/placement/action.js'
import { isTransfer } from '../../src/core/placement/action.js'
import { Arrangement } from '../../src/core/placement/arrangement.js'
import { Roster, type Member } from '../../src/core/placement/roster.js'
import type { RuleSet } from '../../src/core/placement/rule.js'
import { judgeSplit } from '../../src/core/placement/split.js'
import { View, type LoadLevel } from '../../src/core/placement/view.js'
import { Random } from '../../src/core/random.js'
import { MAX_COPIES, Table } from '../../src/core/table.js'
import { applyAction } from './change.js'

export interface BalanceOptions {
  readonly buckets: number
  readonly copies: number
  readonly rules: RuleSet
  readonly seed: number
  readonly splitAt?: number
  /** Rounds a change of a row may take to reach another node; 0: all see it at once. */
  readonly lag?: number
  /** Rounds an answer may be old when it is used. */
  readonly answerLag?: number
  /** Rounds a transfer may take at the most. */
  readonly transferRounds?: number
  readonly onAction?: (event: ActionEvent, cluster: BalanceCluster) => void
}

export interface ActionEvent {
  readonly round: number
  readonly node: NodeIndex
  readonly plan: Plan
}

interface Peer {
  readonly node: NodeIndex
  readonly view: View
  readonly answers: { level: LoadLevel; due: number }[]
}

interface Transfer {
  readonly source: NodeIndex
  readonly action: Exclude<Action, { kind: 'split' }>
  readonly epoch: number
  readonly mask: number
  readonly due: number
}

export interface Tally {
  shipped: number
  switches: number
  released: number
  cancelled: number
  splits: number
  rounds: number
}

export class BalanceCluster {
  readonly table: Table
  readonly tally: Tally = {
    shipped: 0,
    switches: 0,
    released: 0,
    cancelled: 0,
    splits: 0,
    rounds: 0
  }
  readonly #options: BalanceOptions
  readonly #random: Random
  readonly #arrangement: Arrangement
  readonly #peers = new Map<NodeIndex, Peer>()
  readonly #members = new Map<NodeIndex, Member>()
  #transfers: Transfer[] = []
  #news: { to: NodeIndex; bucket: number; due: number }[] = []
  #round = 0

  constructor(options: BalanceOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
    this.table = new Table(maskOf(options.buckets))
    this.#arrangement = new Arrangement(this.table, new Roster([]), options.copies)
  }

  get roster(): Roster {
    return this.#arrangement.roster
  }

  get arrangement(): Arrangement {
    return this.#arrangement
  }

  viewOf(node: NodeIndex): View {
    const peer = this.#peers.get(node)
    assert(peer !== undefined, `no node ${node}`)
    return peer.view
  }

  get nodes(): NodeIndex[] {
    return [...this.#peers.keys()]
  }

  join(
    name: string,
    { weight = 1, zone = '' }: { weight?: number; zone?: string } = {}
  ): NodeIndex {
    const node = this.table.intern(nodeName(name))
    this.#members.set(node, { node, weight, zone, leaving: false })
    const arrangement = this.#options.lag ? this.#privateArrangement() : this.#arrangement
    const view = new View({ arrangement, self: node, splitAt: this.#options.splitAt ?? 0 })
    this.#peers.set(node, { node, view, answers: [] })
    this.#spreadRoster()
    if (this.#peers.size === 1) {
      for (let bucket = 0; bucket <= this.table.mask; bucket++) {
        this.#publish(bucket, 1, [node])
      }
    }
    return node
  }

  /** The node wants to go; it is gone when it holds nothing more. */
  leave(node: NodeIndex): void {
    const member = this.#members.get(node)
    assert(member !== undefined, `no node ${node}`)
    this.#members.set(node, { ...member, leaving: true })
    this.#spreadRoster()
  }

  /** The node is gone at once; its backups take over what it was primary of. */
  die(node: NodeIndex): void {
    this.#members.delete(node)
    this.#peers.delete(node)
    this.#transfers = this.#transfers.filter((transfer) => {
      if (transfer.source !== node && transfer.action.to !== node) return true
      this.#finish(transfer, false)
      return false
    })
    for (let bucket = 0; bucket <= this.table.mask; bucket++) {
      if (!this.table.isHolder(bucket, node)) continue
      const rest = this.#holders(bucket).filter((holder) => holder !== node)
      this.#publish(bucket, this.table.epochOf(bucket) + 1, rest)
    }
    this.#spreadRoster()
  }

  /** Runs until nobody has anything to do; false if that does not happen within the limit. */
  settle(roundsMax = 1_000_000): boolean {
    // Whom a node asks is drawn by chance, so one quiet round does not prove that all is done.
    const quietNeeded = this.#options.rules.name === 'current' ? 5 : 2 + 2 * this.#peers.size
    let quiet = 0
    for (let round = 0; round < roundsMax; round++) {
      const before = this.#actions()
      const busy = this.#transfers.length > 0 || this.#news.length > 0
      this.step()
      const answers = [...this.#peers.values()].some((peer) => peer.answers.length > 0)
      const acted = before !== this.#actions()
      quiet = acted || busy || answers || this.#transfers.length > 0 ? 0 : quiet + 1
      if (quiet >= quietNeeded) return true
    }
    return false
  }

  /** One round. */
  step(): void {
    this.#round++
    this.tally.rounds++
    this.#deliver()
    const order = this.#random.shuffle([...this.#peers.values()])
    for (const peer of order) if (this.#peers.has(peer.node)) this.#fire(peer)
    this.#complete()
    this.#bury()
  }

  /** One node asks another and acts on the answer at once; for transcripts. */
  ask(asker: NodeIndex, other: NodeIndex): Plan {
    const peer = this.#peers.get(asker)
    const target = this.#peers.get(other)
    assert(peer !== undefined && target !== undefined, 'no such node')
    const plan = this.#options.rules.plan(peer.view, target.view.own)
    if (plan.action !== undefined) {
      this.#begin(peer, plan)
      this.#complete(Infinity)
    }
    return plan
  }

  #actions(): number {
    const { shipped, switches, released, splits } = this.tally
    return shipped + switches + released + splits
  }

  #fire(peer: Peer): void {
    const { rules } = this.#options
    const { view } = peer
    if (judgeSplit(view).allow && !view.transferring) {
      this.#split(peer)
      return
    }
    while (peer.answers.length > 0 && peer.answers[0].due <= this.#round) {
      const answer = peer.answers.shift()
      if (answer !== undefined && this.#peers.has(answer.level.node))
        this.#decide(peer, answer.level)
    }
    if (view.transferring || peer.answers.length > 0) return
    const other = rules.ask(view, this.#random)
    const target = this.#peers.get(other)
    if (target === undefined) return
    const late = this.#options.answerLag ? this.#random.between(0, this.#options.answerLag) : 0
    if (late === 0) this.#decide(peer, target.view.own)
    else peer.answers.push({ level: target.view.own, due: this.#round + late })
  }

  #decide(peer: Peer, level: LoadLevel): void {
    if (peer.view.transferring) return
    const plan = this.#options.rules.plan(peer.view, level)
    if (plan.action !== undefined) this.#begin(peer, plan)
  }

  #begin(peer: Peer, plan: Plan): void {
    const { action } = plan
    if (action === undefined) return
    if (action.kind === 'split') {
      this.#split(peer)
      return
    }
    const { view } = peer
    const target = this.#peers.get(action.to)
    if (target === undefined) return
    // The node that is asked looks at itself: what the asker knew may be old.
    if (view.table.mask !== this.table.mask || target.view.table.mask !== this.table.mask) return
    if (action.kind !== 'release' && !this.#options.rules.accept(target.view, action).allow) return
    this.#options.onAction?.({ round: this.#round, node: peer.node, plan }, this)
    const transfer: Transfer = {
      source: peer.node,
      action,
      epoch: view.table.epochOf(action.bucket),
      mask: this.table.mask,
      due: this.#round + this.#random.between(0, (this.#options.transferRounds ?? 1) - 1)
    }
    if (isTransfer(action)) {
      view.transferring = true
      target.view.transferring = true
      this.tally.shipped++
      this.#transfers.push(transfer)
    } else {
      this.#finish(transfer, true)
    }
  }

  #complete(until = this.#round): void {
    const due = this.#transfers.filter((transfer) => transfer.due <= until)
    this.#transfers = this.#transfers.filter((transfer) => transfer.due > until)
    for (const transfer of due) this.#finish(transfer, true)
  }

  /** The end of an action: the row is changed if it is still the one the source knew. */
  #finish(transfer: Transfer, whole: boolean): void {
    const { action } = transfer
    const source = this.#peers.get(transfer.source)
    const target = this.#peers.get(action.to)
    if (isTransfer(action)) {
      if (source !== undefined) source.view.transferring = false
      if (target !== undefined) target.view.transferring = false
    }
    const fresh =
      transfer.mask === this.table.mask && this.table.epochOf(action.bucket) === transfer.epoch
    if (!whole || !fresh) {
      this.tally.cancelled++
      return
    }
    const next = applyAction(this.#holders(action.bucket), transfer.source, action)
    this.#publish(action.bucket, transfer.epoch + 1, next)
    if (action.kind === 'switch') this.tally.switches++
    if (action.kind === 'release') this.tally.released++
    if (isTransfer(action) && target !== undefined) target.view.lastTransfer = action.bucket
    // Both ends know what they have just done.
    for (const peer of [source, target])
      if (peer !== undefined) this.#tell(peer.view.table, action.bucket)
  }

  #split(peer: Peer): void {
    const mask = nextMask(peer.view.table.mask)
    // A transfer at either end is cancelled; the target forgets what it got.
    const transfers = this.#transfers
    this.#transfers = []
    for (const transfer of transfers) this.#finish(transfer, false)
    this.tally.splits++
    if (mask > this.table.mask) this.table.expand(mask)
    if (peer.view.table.mask < mask) peer.view.table.expand(mask)
    for (const other of this.#peers.values()) {
      // The larger mask travels with the rows: the others follow when they hear of it.
      if (other.view.table.mask < mask)
        this.#news.push({ to: other.node, bucket: 0, due: this.#later() })
    }
  }

  #publish(bucket: number, epoch: number, holders: readonly NodeIndex[]): void {
    this.table.replace(bucket, epoch, holders)
    if (!this.#options.lag) return
    for (const peer of this.#peers.values()) {
      this.#news.push({ to: peer.node, bucket, due: this.#later() })
    }
  }

  #later(): number {
    return this.#round + this.#random.between(1, Math.max(1, this.#options.lag ?? 1))
  }

  #deliver(): void {
    if (this.#news.length === 0) return
    const due = this.#news.filter((news) => news.due <= this.#round)
    this.#news = this.#news.filter((news) => news.due > this.#round)
    for (const { to, bucket } of due) {
      const peer = this.#peers.get(to)
      if (peer !== undefined) this.#tell(peer.view.table, bucket)
    }
  }

  #tell(table: Table, bucket: number): void {
    if (table === this.table) return
    if (table.mask < this.table.mask) table.expand(this.table.mask)
    if (bucket <= this.table.mask) table.offer(bucket, this.table.row(bucket))
  }

  /** Leaving nodes that hold nothing any more are gone. */
  #bury(): void {
    for (const member of this.#members.values()) {
      if (!member.leaving || this.table.totalOf(member.node) > 0) continue
      this.#members.delete(member.node)
      this.#peers.delete(member.node)
      this.#spreadRoster()
    }
  }

  #spreadRoster(): void {
    const roster = new Roster([...this.#members.values()])
    this.#arrangement.roster = roster
    for (const peer of this.#peers.values()) peer.view.arrangement.roster = roster
  }

  #privateArrangement(): Arrangement {
    // Interned in the same order, so that indexes mean the same everywhere.
    const table = this.table.clone()
    for (const peer of this.#peers.values())
      peer.view.table.intern(this.table.nameOf(this.table.names.length - 1))
    return new Arrangement(table, this.#arrangement.roster, this.#options.copies)
  }

  #holders(bucket: number): NodeIndex[] {
    const holders: NodeIndex[] = []
    for (let place = 0; place < MAX_COPIES; place++) {
      const holder = this.table.holderAt(bucket, place)
      if (holder !== NOBODY) holders.push(holder)
    }
    return holders
  }
}
