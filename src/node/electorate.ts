/**
 * Whom an attempt to change a register needs: the voters, those that a new set of voters names, and, where those who can be heard
 * decide, whoever gets a bucket from this node. Only with its consent is a bucket given: it may have given its part of the move
 * up, voter or not, and nobody would have the bucket then.
 */
import type { NodeName } from '../core/ids.js'
import { decidesByMajority, type Voter } from '../core/membership/voters.js'
import { VOTERS_REGISTER, type AcceptAsk, type RegisterValue } from '../wire/peer/agreement.js'
import type { Acceptor } from './acceptor.js'
import type { Attempt } from './attempt.js'
import type { Cluster } from './cluster.js'
import type { Peer } from './peers.js'

export class Electorate {
  readonly #cluster: Cluster
  readonly #acceptor: Acceptor

  constructor(cluster: Cluster, acceptor: Acceptor) {
    this.#cluster = cluster
    this.#acceptor = acceptor
  }

  /** Whether its answer is to be waited for. One that hears nothing decides without this node as well. */
  isLive({ name, life }: Voter): boolean {
    const { config, peers } = this.#cluster
    if (name === config.name) return life === config.life
    return this.#isReachable(name) && peers.get(name)?.stream.peerLife === life
  }

  /** Whether the value would give a bucket of this node's to one that cannot be asked. */
  isGivenAway(register: number, value: RegisterValue | undefined): boolean {
    const taker = this.#takerOf(register, value)
    return taker !== undefined && !this.#isReachable(taker)
  }

  /** Whoever gets the bucket, and can be asked, has agreed. */
  hasConsent(attempt: Attempt): boolean {
    const taker = this.#takerOfAttempt(attempt)
    return taker === undefined || attempt.answers.has(taker) || !this.#isReachable(taker)
  }

  /** Those to be asked about what is being tried; with those who are wished for as voters, if the voters are asked about. */
  asked(
    attempts: ReadonlyMap<number, Attempt>,
    accepts: readonly AcceptAsk[],
    withWished: boolean
  ): ReadonlySet<Peer> {
    const { peers, config } = this.#cluster
    const { voters } = this.#acceptor
    const sets = [voters]
    for (const { value } of accepts) if (value.kind === 'voters') sets.push(value.set)
    const wished = attempts.get(VOTERS_REGISTER)?.wish.next
    if (withWished && wished?.kind === 'voters') sets.push(wished.set)
    const found = new Set<Peer>()
    for (const set of sets) {
      for (const { name, life } of set.voters) {
        const peer = name === config.name ? undefined : peers.get(name)
        if (peer?.isOpen === true && peer.stream.peerLife === life) found.add(peer)
      }
    }
    if (decidesByMajority(voters)) return found
    for (const attempt of attempts.values()) {
      const taker = this.#takerOfAttempt(attempt)
      const peer = taker === undefined ? undefined : peers.get(taker)
      if (peer?.isOpen === true) found.add(peer)
    }
    return found
  }

  #takerOfAttempt({ wish, phase, value }: Attempt): NodeName | undefined {
    return this.#takerOf(wish.register, phase === 'accept' ? value : wish.next)
  }

  /** To whom this node gives the bucket by this value. */
  #takerOf(register: number, value: RegisterValue | undefined): NodeName | undefined {
    if (value?.kind !== 'row' || decidesByMajority(this.#acceptor.voters)) return undefined
    const { name } = this.#cluster.config
    const known = this.#acceptor.known(register)
    if (known?.kind !== 'row' || known.row.primary !== name) return undefined
    const { primary } = value.row
    return primary === null || primary === name ? undefined : primary
  }

  #isReachable(name: NodeName): boolean {
    const { peers, now } = this.#cluster
    const peer = peers.get(name)
    return peer?.isOpen === true && !peers.isStalled(peer, now)
  }
}
