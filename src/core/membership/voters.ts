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
  /** In the order of names; two lives of one name for a moment, of which the earlier has ended. */
  readonly voters: readonly Voter[]
}

/** More voters make nothing safer, only slower. */
export const VOTERS_MAX = 9
/** `auto` decides by majority from here on: below, the loss of one node would stop the other. */
const AUTO_MAJORITY_MIN = 3

export const NO_VOTERS: VoterSet = { version: 0, policy: 'auto', settled: true, voters: [] }

export function decidesByMajority(set: VoterSet): boolean {
  if (set.policy === 'auto') return set.voters.length >= AUTO_MAJORITY_MIN
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
  readonly reason: string
}

/**
 * The next change, by one voter, or undefined. First go those that will never vote again: a former life, one that has
 * left; then those that were silent for long, as long as three that can be heard remain; then those that leave; then
 * newcomers come in. None goes whose going would leave a set that cannot decide. With `auto` two that are left decide
 * without a majority: so where three nodes stay, the third comes in first, if need be beside its own former life.
 */
export function planVoters(
  set: VoterSet,
  candidates: readonly Candidate[],
  dropAfterMs: number
): NextVoters | undefined {
  if (!set.settled) return undefined
  const staying = candidates.filter(({ state }) => state === 'alive').length
  const mustStay =
    set.policy === 'auto' && set.voters.length === AUTO_MAJORITY_MIN && staying >= AUTO_MAJORITY_MIN
  const newcomer = planNewcomer(set, candidates, mustStay)
  if (mustStay) return newcomer
  const known = new Map(candidates.map((candidate) => [candidate.name, candidate]))
  const isHeard = (voter: Voter): boolean => {
    const candidate = known.get(voter.name)
    return candidate?.life === voter.life && candidate.deadMs === 0
  }
  const mayGo = (gone: Voter): boolean => {
    const next = { ...set, voters: set.voters.filter((voter) => voter !== gone) }
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
      return { voters, reason: `${voter.name} ${reason}` }
    }
  }
  return newcomer
}

function planNewcomer(
  set: VoterSet,
  candidates: readonly Candidate[],
  besideItself: boolean
): NextVoters | undefined {
  if (set.voters.length >= VOTERS_MAX) return undefined
  const isThere = ({ name, life }: Voter): boolean =>
    besideItself ? isVoter(set, { name, life }) : set.voters.some((voter) => voter.name === name)
  const newcomers = candidates.filter(
    (candidate) => candidate.state === 'alive' && candidate.deadMs === 0 && !isThere(candidate)
  )
  if (newcomers.length === 0) return undefined
  const [{ name, life }] = newcomers
  const voters = [...set.voters, { name, life }].sort(compareVoters)
  return { voters, reason: `${name} votes too` }
}

function compareVoters(a: Voter, b: Voter): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.life - b.life
}
