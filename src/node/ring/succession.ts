/**
 * How the nodes of a ring agree on its next configuration. Each version is one decision by those who are on the ring
 * of the version before: a majority of them, each a memory and not a name, since a process that was restarted without a
 * disk has forgotten what it promised. A decided version says who decides on the next, and so on: configurations form one chain,
 * although no node leads.
 *
 * A process that has a successor of its name is certainly gone, as is one that a person has given up. If too few
 * remain for a majority, all that remain together decide: whatever a majority had decided, one of them would know, or
 * nobody any more. So two nodes are enough to take back the one of them that was restarted.
 */
import { compareBallots, NO_BALLOT, type Ballot } from '../../core/agreement/ballot.js'
import { Register } from '../../core/agreement/register.js'
import {
  votersOf,
  type RingConfiguration,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import type { RingMessage } from '../../wire/peer/ring.js'
import type { Peer } from '../peers.js'
import type { MemoryEntry } from '../../wire/ring-memory.js'
import type { RingCluster } from './cluster.js'
import type { Memory } from './memory.js'

const ATTEMPT_MS = 500
const BACK_OFF_MS = 200

interface Attempt {
  readonly ballot: Ballot
  readonly startedMs: number
  value: RingConfiguration
  accepted: Ballot
  phase: 'prepare' | 'propose'
  readonly answered: Set<string>
}

export type SuccessionMessage = Extract<
  RingMessage,
  { kind: 'ringPrepare' | 'ringPromise' | 'ringPropose' | 'ringAccepted' }
>

type Promised = Extract<MemoryEntry, { kind: 'promise' }>

export class Succession {
  readonly #cluster: RingCluster
  readonly #memory: Memory
  readonly #decided: (configuration: RingConfiguration) => void
  /** Given up by a person, here. */
  readonly #forgotten = new Set<string>()
  #register = new Register<RingConfiguration>()
  #attempt: Attempt | undefined
  #round = 0
  #notBeforeMs = 0

  constructor(
    cluster: RingCluster,
    memory: Memory,
    decided: (configuration: RingConfiguration) => void
  ) {
    this.#cluster = cluster
    this.#memory = memory
    this.#decided = decided
  }

  /** Whether something can be proposed now. */
  get ready(): boolean {
    const { now } = this.#cluster
    if (this.#attempt !== undefined && now - this.#attempt.startedMs > ATTEMPT_MS) this.#giveUp()
    return this.#attempt === undefined && now >= this.#notBeforeMs && this.isVoter
  }

  get isVoter(): boolean {
    const { configuration, config, memory } = this.#cluster
    return votersOf(configuration).some(({ name, life }) => name === config.name && life === memory)
  }

  forget(name: string): void {
    this.#forgotten.add(name)
  }

  get forgotten(): readonly string[] {
    return [...this.#forgotten]
  }

  isForgotten(name: string): boolean {
    return this.#forgotten.has(name)
  }

  /** A newer configuration is known: what was promised for this version is of no use any more. */
  adopted(): void {
    this.#register = new Register()
    this.#attempt = undefined
    const names = new Set<string>(this.#cluster.configuration.members.map(({ name }) => name))
    for (const name of this.#forgotten) if (!names.has(name)) this.#forgotten.delete(name)
  }

  /** What must not be forgotten before the next version is decided. */
  get promise(): Promised | undefined {
    const { promised } = this.#register
    if (promised.round === 0) return undefined
    const version = this.#cluster.configuration.version + 1
    return { kind: 'promise', version, promised, accepted: this.#ownAccepted() }
  }

  /** What an earlier process has promised. */
  recall({ version, promised, accepted }: Promised): void {
    if (version !== this.#cluster.configuration.version + 1) return
    this.#register.promised = promised
    if (accepted === undefined) return
    this.#register.accepted = accepted.ballot
    this.#register.value = accepted.configuration
  }

  #keepPromise(): void {
    if (this.#memory.isKept && this.promise !== undefined) this.#memory.note(this.promise)
  }

  propose(value: RingConfiguration): void {
    const { config, now } = this.#cluster
    this.#round = Math.max(this.#round, this.#register.promised.round) + 1
    const ballot = { round: this.#round, name: config.name, life: config.life }
    this.#attempt = {
      ballot,
      startedMs: now,
      value,
      accepted: NO_BALLOT,
      phase: 'prepare',
      answered: new Set()
    }
    const { version } = value
    this.#toVoters({ kind: 'ringPrepare', version, round: ballot.round })
    if (!this.#register.prepare(ballot)) return
    this.#keepPromise()
    this.#promised(config.name, this.#ownAccepted())
  }

  onMessage(peer: Peer, message: SuccessionMessage): void {
    const { configuration } = this.#cluster
    if (message.version !== configuration.version + 1) {
      // Whoever is behind is told; whoever is ahead will tell.
      if (message.version <= configuration.version) this.#cluster.send(peer.name, this.#nothing())
      return
    }
    switch (message.kind) {
      case 'ringPrepare':
        this.#onPrepare(peer, message)
        return
      case 'ringPropose':
        this.#onPropose(peer, message)
        return
      case 'ringPromise':
        if (!this.#isOwn(message.round) || !this.#isVoter(peer)) return
        if (message.ok) this.#promised(peer.name, message.accepted)
        else this.#refused(message.highest)
        return
      case 'ringAccepted':
        if (!this.#isOwn(message.round) || !this.#isVoter(peer)) return
        if (message.ok) this.#acceptedBy(peer.name)
        else this.#refused(message.highest)
    }
  }

  #onPrepare(peer: Peer, message: Extract<SuccessionMessage, { kind: 'ringPrepare' }>): void {
    const { version, round } = message
    const ok = this.#register.prepare(this.#ballotOf(peer, round))
    if (ok) this.#keepPromise()
    const highest = this.#register.promised.round
    const accepted = ok ? this.#ownAccepted() : undefined
    this.#cluster.reply(peer, { kind: 'ringPromise', version, round, ok, highest, accepted })
  }

  #onPropose(peer: Peer, message: Extract<SuccessionMessage, { kind: 'ringPropose' }>): void {
    const { version, round, configuration } = message
    const ok = this.#register.accept(this.#ballotOf(peer, round), configuration)
    if (ok) this.#keepPromise()
    const highest = this.#register.promised.round
    this.#cluster.reply(peer, { kind: 'ringAccepted', version, round, ok, highest })
  }

  #promised(
    name: string,
    accepted: { ballot: Ballot; configuration: RingConfiguration } | undefined
  ): void {
    const attempt = this.#attempt
    if (attempt?.phase !== 'prepare') return
    if (accepted !== undefined && compareBallots(accepted.ballot, attempt.accepted) > 0) {
      attempt.accepted = accepted.ballot
      attempt.value = accepted.configuration
    }
    attempt.answered.add(name)
    if (!this.#isQuorum(attempt.answered)) return
    attempt.phase = 'propose'
    attempt.answered.clear()
    const { value, ballot } = attempt
    const { version } = value
    this.#toVoters({ kind: 'ringPropose', version, round: ballot.round, configuration: value })
    if (!this.#register.accept(ballot, value)) return
    this.#keepPromise()
    this.#acceptedBy(this.#cluster.config.name)
  }

  #acceptedBy(name: string): void {
    const attempt = this.#attempt
    if (attempt?.phase !== 'propose') return
    attempt.answered.add(name)
    if (!this.#isQuorum(attempt.answered)) return
    this.#attempt = undefined
    this.#decided(attempt.value)
  }

  #refused(highest: number): void {
    this.#round = Math.max(this.#round, highest)
    this.#giveUp()
  }

  /** Two who try at once must not go on disturbing each other. */
  #giveUp(): void {
    const { now, random } = this.#cluster
    this.#attempt = undefined
    this.#notBeforeMs = now + random.fraction() * BACK_OFF_MS
  }

  #isQuorum(answered: ReadonlySet<string>): boolean {
    const voters = votersOf(this.#cluster.configuration)
    const left = voters.filter((voter) => !this.#isGone(voter))
    const majority = Math.floor(voters.length / 2) + 1
    return left.filter(({ name }) => answered.has(name)).length >= Math.min(majority, left.length)
  }

  #isGone({ name, life }: RingMemberRecord): boolean {
    const { config, memory } = this.#cluster
    if (name === config.name) return life !== memory
    return this.#forgotten.has(name) || this.#cluster.memoryOf(name) > life
  }

  #isVoter(peer: Peer): boolean {
    return votersOf(this.#cluster.configuration).some(
      ({ name, life }) => name === peer.name && life === this.#cluster.memoryOf(peer.name)
    )
  }

  #isOwn(round: number): boolean {
    return this.#attempt?.ballot.round === round
  }

  #ballotOf(peer: Peer, round: number): Ballot {
    return { round, name: peer.name, life: peer.stream.peerLife }
  }

  #ownAccepted(): { ballot: Ballot; configuration: RingConfiguration } | undefined {
    const { value, accepted } = this.#register
    return value === undefined ? undefined : { ballot: accepted, configuration: value }
  }

  #toVoters(message: SuccessionMessage): void {
    const { config, configuration } = this.#cluster
    for (const { name } of votersOf(configuration)) {
      if (name !== config.name) this.#cluster.send(name, message)
    }
  }

  /** Sending anything tells the configuration first. */
  #nothing(): RingMessage {
    return { kind: 'ringLacks', id: 0, lacks: [] }
  }
}
