/**
 * The voters of the cluster as this node knows them, its lease from them, and what it grants to others. One of the
 * voters, the first by name that can be heard, looks after the set: former lives and those who leave go,
 * newcomers come in, one at a time. After each change it has every row decided once more by the new set, and
 * leases of the old one run out, before the set may change again.
 */
import type { NodeName } from '../core/ids.js'
import { Grant, leaseEnd, waitOf } from '../core/membership/lease.js'
import {
  decidesByMajority,
  isVoter,
  majorityOf,
  planVoters,
  type NextVoters,
  type Candidate,
  type Voter,
  type VoterSet
} from '../core/membership/voters.js'
import { VOTERS_REGISTER } from '../wire/peer/agreement.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'
import type { Registers } from './registers.js'

export interface VotingHandlers {
  /** The lease may have come back, or be another one. */
  leaseChanged(): void
}

export class Voting {
  readonly #cluster: Cluster
  readonly #registers: Registers
  readonly #handlers: VotingHandlers
  /** From each voter to this node. */
  readonly #grants = new Map<NodeName, Grant>()
  /** From this node: until when it helps nobody to take that node's buckets. */
  readonly #grantedMs = new Map<NodeName, number>()
  /** The newest voters that each peer is known to have accepted. */
  readonly #seen = new Map<NodeName, number>()
  #learnedMs = 0
  #leaseEndMs = -Infinity
  /** As it was last told, and whether there was ever something to tell: a newcomer is not cut off. */
  #serves = false
  #served = false
  /** Rows that the present set has not decided once more yet. */
  #unsettled: { version: number; mask: number; left: Set<number> } | undefined

  constructor(cluster: Cluster, registers: Registers, handlers: VotingHandlers) {
    this.#cluster = cluster
    this.#registers = registers
    this.#handlers = handlers
  }

  get set(): VoterSet {
    return this.#registers.voters
  }

  get isVoter(): boolean {
    const { name, life } = this.#cluster.config
    return isVoter(this.set, { name, life })
  }

  /** It may be one by a set that it has accepted, or was asked about, and has not heard the end of. */
  get mayBeVoter(): boolean {
    const { seen, mayBeNamed } = this.#registers
    return this.isVoter || seen > this.set.version || mayBeNamed
  }

  /** On its way out: whether it is about to be made a voter is found out by deciding the voters once more. */
  leaving(): void {
    if (!this.isVoter && this.#registers.mayBeNamed) this.ask()
  }

  get byMajority(): boolean {
    return decidesByMajority(this.set)
  }

  /** The first node decides alone. */
  found(): void {
    const { name, life, policy } = this.#cluster.config
    const voters = [{ name, life }]
    const set = { version: 1, policy, settled: true, strict: false, voters }
    this.#registers.seed(VOTERS_REGISTER, { kind: 'voters', set })
    this.learn(set, 'the first node')
  }

  /** Whether this node may believe that it is still primary of what its table says. */
  mayServe(): boolean {
    const { now, config } = this.#cluster
    return now < this.#leaseEndMs || !this.byMajority || config.sabotage === 'skip-lease'
  }

  /** To be called now and then: says that the lease ran out, and that it is there again. */
  watchLease(): void {
    const { config, outbox, now } = this.#cluster
    const serves = this.mayServe()
    if (serves === this.#serves) return
    // New voters have not granted anything yet.
    if (!serves && now < this.#learnedMs + config.leaseMs) return
    // The first lease is no news.
    if (this.#served) outbox.event({ kind: serves ? 'serving' : 'isolated', node: config.name })
    this.#served = true
    this.#serves = serves
  }

  /** The longest time for which a lease can still be relied on that was granted just now. */
  get leaseWaitMs(): number {
    const { leaseMs, driftMax } = this.#cluster.config
    return this.byMajority ? waitOf(leaseMs, driftMax) : 0
  }

  /** Whether so many voters cannot be heard that the others cannot decide anything. */
  get isStuck(): boolean {
    const live = this.set.voters.filter((voter) => this.#isLive(voter))
    return this.byMajority && live.length < majorityOf(this.set)
  }

  /**
   * Voters that were struck by hand have ended for good, whoever struck them says: the others go on without them, even
   * if they were the majority. This is the one decision that no quorum makes.
   */
  goOn(): void {
    const { config, members } = this.#cluster
    const remains = ({ name, life }: Voter): boolean => {
      const record = members.get(name)
      return record !== undefined && record.state !== 'left' && record.life === life
    }
    const left = this.set.voters.filter(remains)
    if (left.length === this.set.voters.length) return
    const voters = left.length > 0 ? left : [{ name: config.name, life: config.life }]
    const version = Math.max(this.#registers.seen, this.set.version) + 1
    const set = { ...this.set, version, settled: false, strict: false, voters }
    this.learn(set, 'the others were struck by hand')
  }

  learn(set: VoterSet, reason: string): void {
    const { peers, outbox, now } = this.#cluster
    const known = this.set
    if (set.version < known.version || isEqual(set, known)) return
    // Two sides decided alone: all take the same of the two, as a newer one.
    const chosen = set.version > known.version ? set : preferSet(set, known)
    this.#learnedMs = now
    this.#unsettled = undefined
    peers.broadcast({ kind: 'voters', set: chosen }, now)
    const { version, settled, voters } = chosen
    const names = voters.map(({ name }) => name)
    outbox.event({ kind: 'voters', version, settled, voters: names, reason })
    this.#registers.votersChanged(chosen)
    this.#refreshLease()
  }

  /** A peer has accepted voters of this version, or just says which ones it knows. */
  onSeen(peer: Peer, version: number): void {
    const { peers, now } = this.#cluster
    this.#seen.set(peer.name, version)
    if (version < this.set.version) peers.send(peer, { kind: 'voters', set: this.set }, now)
    else if (version > this.set.version) this.ask()
  }

  /** A beat says which voters its sender knows. */
  compare(peer: Peer, version: number): void {
    const { peers, now } = this.#cluster
    if (version === this.set.version || peers.isStalled(peer, now)) return
    if (version < this.set.version) peers.send(peer, { kind: 'voters', set: this.set }, now)
    else peers.send(peer, { kind: 'votersAsk' }, now)
  }

  /** Others know newer voters: find out which. */
  ask(peer?: Peer): void {
    const { peers, now } = this.#cluster
    const { version } = this.set
    if (peer !== undefined) peers.send(peer, { kind: 'votersAsk' }, now)
    if (version === 0 || this.#registers.isPending(VOTERS_REGISTER)) return
    this.#registers.propose([
      { register: VOTERS_REGISTER, expected: version, reason: 'others know newer voters' }
    ])
  }

  /** This node has accepted other voters: what it grants from now on counts only with those who know them too. */
  accepted(version: number): void {
    this.#cluster.peers.broadcast({ kind: 'votersSeen', version }, this.#cluster.now)
  }

  /** Beats have just been put on the streams. */
  beatSent(): void {
    const { peers, now } = this.#cluster
    for (const { name, life } of this.set.voters) {
      const peer = peers.get(name)
      if (peer?.isOpen !== true || peer.stream.peerLife !== life) continue
      // It was sent none.
      if (peer.left || peers.isStalled(peer, now)) continue
      this.#grantOf(name).sent(peer.stream.sent, now)
    }
  }

  /** Whether these are enough voters to decide; this node itself does not have to be asked. */
  isQuorum(has: (name: NodeName) => boolean): boolean {
    if (!this.byMajority) return true
    const { name: self } = this.#cluster.config
    const { voters } = this.set
    return voters.filter(({ name }) => name === self || has(name)).length >= majorityOf(this.set)
  }

  acked(peer: Peer): void {
    const grant = this.#grants.get(peer.name)
    const counts = (this.#seen.get(peer.name) ?? 0) <= this.set.version
    if (grant?.acked(peer.stream.acked, counts) === true) this.#refreshLease()
  }

  restarted(peer: Peer): void {
    this.#grants.get(peer.name)?.clear()
    this.#seen.delete(peer.name)
    this.#refreshLease()
  }

  /** A beat came: its sender keeps its buckets for a while. */
  heard(peer: Peer): void {
    const { config, now } = this.#cluster
    this.#grantedMs.set(peer.name, now + waitOf(config.leaseMs, config.driftMax))
  }

  /** How long this node will not help to take a bucket from that primary. */
  leased(bucket: number, deposes: NodeName): number {
    const { config, buckets, now } = this.#cluster
    if (!this.byMajority) return 0
    if (deposes === config.name) return buckets[bucket]?.role === 'primary' ? config.leaseMs : 0
    return Math.max(0, (this.#grantedMs.get(deposes) ?? -Infinity) - now)
  }

  /** Looks after the voters, if that is this node's to do. */
  beat(): void {
    const { members, config } = this.#cluster
    if (this.#registers.isPending(VOTERS_REGISTER) || !this.#isSteward()) return
    if (this.#registers.seen > this.set.version) {
      this.ask()
      return
    }
    if (!this.set.settled) {
      this.#settle()
      return
    }
    const plan = (): NextVoters | undefined => {
      const candidates = members.all().map((record) => this.#candidate(record.name, record.state))
      return planVoters(this.set, candidates, config.voterDropMs)
    }
    const next = plan()
    if (next === undefined) return
    const { version, policy } = this.set
    const { voters, strict } = next
    const set = { version, policy, settled: false, strict, voters }
    this.#registers.propose([
      {
        register: VOTERS_REGISTER,
        expected: version,
        next: { kind: 'voters', set },
        reason: next.reason,
        isWanted: () => plan()?.reason === next.reason
      }
    ])
  }

  /** Has every row decided by the present voters, once the leases of the former ones have run out. */
  #settle(): void {
    const { table, now } = this.#cluster
    const { version } = this.set
    if (now < this.#learnedMs + this.leaseWaitMs) return
    const known = this.#unsettled
    if (known?.version !== version || known.mask !== table.mask) {
      const left = new Set(Array.from({ length: table.size }, (_, bucket) => bucket))
      this.#unsettled = { version, mask: table.mask, left }
    }
    const unsettled = this.#unsettled
    if (unsettled === undefined) return
    const isWanted = (): boolean => this.#unsettled === unsettled
    const buckets = [...unsettled.left].filter((bucket) => !this.#registers.isPending(bucket))
    this.#registers.propose(
      buckets.map((bucket) => ({
        register: bucket,
        expected: table.epochOf(bucket),
        reason: 'new voters',
        isWanted,
        done: (decided) => {
          if (decided) unsettled.left.delete(bucket)
          if (unsettled.left.size === 0 && isWanted()) this.#settled()
        }
      }))
    )
  }

  #settled(): void {
    const { version } = this.set
    this.#unsettled = undefined
    this.#registers.propose([
      {
        register: VOTERS_REGISTER,
        expected: version,
        next: { kind: 'voters', set: { ...this.set, settled: true } },
        reason: 'every row is decided by them'
      }
    ])
  }

  #isSteward(): boolean {
    const { config, members } = this.#cluster
    if (!this.isVoter) return this.#isLastHope()
    const live = this.set.voters.filter((voter) => this.#isLive(voter))
    const staying = live.filter(({ name }) => members.get(name)?.state === 'alive')
    return (staying.length > 0 ? staying : live)[0]?.name === config.name
  }

  /** No voter can be heard, and none has to be: the first of the others takes their place. */
  #isLastHope(): boolean {
    const { members, config } = this.#cluster
    if (this.byMajority || this.set.voters.some((voter) => this.#isLive(voter))) return false
    const first = members.all().find(({ name, state }) => {
      return state === 'alive' && (name === config.name || this.#isHeard(name))
    })
    return first?.name === config.name
  }

  #isHeard(name: NodeName): boolean {
    const peer = this.#cluster.peers.get(name)
    return peer?.isOpen === true && peer.stream.peerLife !== 0
  }

  #isLive(voter: Voter): boolean {
    const { config, peers } = this.#cluster
    if (voter.name === config.name) return voter.life === config.life
    return this.#isHeard(voter.name) && peers.get(voter.name)?.stream.peerLife === voter.life
  }

  #candidate(name: NodeName, state: Candidate['state']): Candidate {
    const { config, peers, members, now } = this.#cluster
    if (name === config.name) return { name, life: config.life, state, deadMs: 0 }
    const peer = peers.get(name)
    const life = Math.max(peer?.stream.peerLife ?? 0, members.get(name)?.life ?? 0)
    if (peer === undefined) return { name, life, state, deadMs: 1 }
    const heard = this.#isHeard(name) && peer.stream.peerLife === life
    return { name, life, state, deadMs: heard ? 0 : Math.max(1, now - peer.lastHeardMs) }
  }

  #grantOf(name: NodeName): Grant {
    const known = this.#grants.get(name)
    if (known !== undefined) return known
    const grant = new Grant()
    this.#grants.set(name, grant)
    return grant
  }

  #refreshLease(): void {
    const { config, peers, now } = this.#cluster
    const before = this.mayServe()
    this.#leaseEndMs = leaseEnd(this.set, config.leaseMs, ({ name, life }) => {
      if (name === config.name) return life === config.life ? Infinity : -Infinity
      if (peers.get(name)?.stream.peerLife !== life) return -Infinity
      return this.#grants.get(name)?.sentMs ?? -Infinity
    })
    if (!before && now < this.#leaseEndMs) this.#handlers.leaseChanged()
  }
}

function describe(set: VoterSet): string {
  const voters = set.voters.map(({ name, life }) => `${name}@${life}`).join(' ')
  return `${voters} ${set.settled} ${set.strict} ${set.policy}`
}

function isEqual(a: VoterSet, b: VoterSet): boolean {
  return a.version === b.version && describe(a) === describe(b)
}

function preferSet(a: VoterSet, b: VoterSet): VoterSet {
  const chosen = describe(a) > describe(b) ? a : b
  return { ...chosen, version: chosen.version + 1, settled: false }
}
