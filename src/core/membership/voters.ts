/**
 * Who decides. The voters are a register like the rows, and change by one voter at a time: then every quorum of
 * the old set meets every quorum of the new one. Before the next change everything that was decided with the old
 * set is decided once more with the new one (the set is `settled` then), so that no two sets that differ by
 * more than one ever have to agree with each other.
 *
 * A voter is a process, not a name: one that was started again has forgotten what it promised, and is another voter.
 */
import type { NodeName } from '../ids.js'
import type { MemberState } from './members.js'

/** As the cluster was set up; `auto` becomes one of the other two by the number of voters. */
export type Policy = 'auto' | 'majority' | 'available'

export interface Voter {
  readonly name: NodeName
  readonly life: number
}

export interface VoterSet {
  readonly version: number
  readonly policy: Policy
  /** Everything that was decided before is decided by this set too. */
  readonly settled: boolean
  /** With `auto`: fewer than three, which decide by majority all the same, since a third node is there to come in. */
  readonly strict: boolean
  /** In the order of names. */
  readonly voters: readonly Voter[]
}

/** More voters make nothing safer, only slower. */
export const VOTERS_MAX = 9
/** `auto` decides by majority from here on: below, the loss of one node would stop the other. */
const AUTO_MAJORITY_MIN = 3

export const NO_VOTERS: VoterSet = {
  version: 0,
  policy: 'auto',
  settled: true,
  strict: false,
  voters: []
}

export function decidesByMajority(set: VoterSet): boolean {
  if (set.policy === 'auto') return set.strict || set.voters.length >= AUTO_MAJORITY_MIN
  return set.policy === 'majority'
}

export function majorityOf(set: VoterSet): number {
  return Math.floor(set.voters.length / 2) + 1
}

/**
 * How many of these voters have accepted, at the least, whatever was ever decided. While the set is not settled that
 * may have been the set before it, which had one voter more or less; and before `auto` decided by majority, perhaps one.
 */
export function chosenByAtLeast(set: VoterSet): number {
  if (set.settled) return majorityOf(set)
  if (set.policy === 'auto' && set.voters.length <= AUTO_MAJORITY_MIN) return 0
  return Math.floor((set.voters.length + 1) / 2)
}

export function isVoter(set: VoterSet, { name, life }: Voter): boolean {
  return set.voters.some((voter) => voter.name === name && voter.life === life)
}

export interface Quorum {
  /** It has answered. */
  has(voter: Voter): boolean
  /** It can be heard; asked only where the voters that can be heard decide. */
  isLive(voter: Voter): boolean
}

/** Whether those who have answered can decide. */
export function isQuorum(set: VoterSet, quorum: Quorum): boolean {
  if (!decidesByMajority(set)) {
    return set.voters.every((voter) => quorum.has(voter) || !quorum.isLive(voter))
  }
  return set.voters.filter((voter) => quorum.has(voter)).length >= majorityOf(set)
}

/** What the one who looks after the voters knows of a member. */
export interface Candidate {
  readonly name: NodeName
  readonly life: number
  readonly state: MemberState
  /** For how long it has not been heard; 0 for one that can be. */
  readonly deadMs: number
}

export interface NextVoters {
  readonly voters: readonly Voter[]
  readonly strict: boolean
  readonly reason: string
}

/**
 * The next change, by one voter, or undefined. First go those that will never vote again: a former life, one that has
 * left; then those that were silent for long, as long as three that can be heard remain; then those that leave; then
 * newcomers come in. None goes whose going would leave a set that cannot decide. With `auto` two that are left would decide
 * without a majority, each alone if they cannot hear each other: where a third node stays, they decide together until it is in.
 */
export function planVoters(
  set: VoterSet,
  candidates: readonly Candidate[],
  dropAfterMs: number
): NextVoters | undefined {
  if (!set.settled) return undefined
  const staying = candidates.filter(({ state }) => state === 'alive').length
  const isStrict = set.policy === 'auto' && decidesByMajority(set) && staying >= AUTO_MAJORITY_MIN
  const nextOf = (voters: readonly Voter[], reason: string): NextVoters => {
    return { voters, strict: isStrict && voters.length < AUTO_MAJORITY_MIN, reason }
  }
  const known = new Map(candidates.map((candidate) => [candidate.name, candidate]))
  const isHeard = (voter: Voter): boolean => {
    const candidate = known.get(voter.name)
    return candidate?.life === voter.life && candidate.deadMs === 0
  }
  const mayGo = (gone: Voter): boolean => {
    const next = {
      ...set,
      ...nextOf(
        set.voters.filter((voter) => voter !== gone),
        ''
      )
    }
    const heard = next.voters.filter(isHeard).length
    return next.voters.length > 0 && heard >= (decidesByMajority(next) ? majorityOf(next) : 1)
  }
  const reasons: readonly ((voter: Voter, candidate: Candidate) => string | false)[] = [
    (voter, { life }) => life > voter.life && 'began a new life',
    (_, { state }) => state === 'left' && 'left',
    (voter, { deadMs }) => {
      const others = set.voters.filter((other) => other !== voter && isHeard(other)).length
      const enough = !decidesByMajority(set) || others >= AUTO_MAJORITY_MIN
      return deadMs >= dropAfterMs && enough && 'is silent'
    },
    (voter, { state }) => {
      const isStaying = (other: Voter): boolean => known.get(other.name)?.state === 'alive'
      const stays = set.voters.some(
        (other) => other !== voter && isHeard(other) && isStaying(other)
      )
      return state === 'leaving' && stays && 'leaves'
    }
  ]
  for (const reasonOf of reasons) {
    for (const voter of set.voters) {
      const candidate = known.get(voter.name)
      const reason = candidate === undefined ? false : reasonOf(voter, candidate)
      if (reason === false || !mayGo(voter)) continue
      const voters = set.voters.filter((other) => other !== voter)
      return nextOf(voters, `${voter.name} ${reason}`)
    }
  }
  const voters = withNewcomer(set, candidates)
  if (voters !== undefined) return nextOf(voters.all, `${voters.newcomer.name} votes too`)
  return set.strict && !isStrict ? nextOf(set.voters, 'no third node stays') : undefined
}

function withNewcomer(
  set: VoterSet,
  candidates: readonly Candidate[]
): { all: Voter[]; newcomer: Voter } | undefined {
  if (set.voters.length >= VOTERS_MAX) return undefined
  const found = candidates.find(
    ({ name, state, deadMs }) =>
      state === 'alive' && deadMs === 0 && !set.voters.some((voter) => voter.name === name)
  )
  if (found === undefined) return undefined
  const newcomer = { name: found.name, life: found.life }
  const all = [...set.voters, newcomer].sort((a, b) => (a.name < b.name ? -1 : 1))
  return { all, newcomer }
}
