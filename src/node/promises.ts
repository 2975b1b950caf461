/**
 * What the promises of a quorum tell about a register: the value to go on from, and the highest number that was ever given.
 * Pure, since everything that the agreement keeps hangs on it: a value that may have been decided is never passed over.
 */
import { compareBallots, NO_BALLOT, type Ballot } from '../core/agreement/ballot.js'
import type { NodeName } from '../core/ids.js'
import {
  chosenByAtLeast,
  decidesByMajority,
  type Voter,
  type VoterSet
} from '../core/membership/voters.js'
import {
  VOTERS_REGISTER,
  type PromiseAnswer,
  type RegisterValue,
  type RowValue
} from '../wire/peer/agreement.js'
import { numberOf } from './register-value.js'

/** What a voter said, and which process it was: the voters may name two of one name, of which the earlier has ended. */
export interface Answer {
  readonly life: number
  /** Not if it was asked to accept something. */
  readonly promise?: PromiseAnswer
}

export type Answers = ReadonlyMap<NodeName, Answer>

export function hasAnswered(answers: Answers, { name, life }: Voter): boolean {
  return answers.get(name)?.life === life
}

export interface Promised {
  readonly register: number
  readonly answers: Answers
  readonly voters: VoterSet
  /** What the node that asks knows to be decided itself. */
  readonly known: RegisterValue | undefined
}

/** The newest of what the quorum knows: by ballot; where those who can be heard decide alone, by number first. */
export function newestOf(promised: Promised): RegisterValue | undefined {
  const { answers, voters, known } = promised
  const byNumber = !decidesByMajority(voters)
  let best: { accepted: Ballot; value: RegisterValue } | undefined
  const consider = (accepted: Ballot, value: RegisterValue): void => {
    const news =
      best === undefined
        ? 1
        : (byNumber ? numberOf(value) - numberOf(best.value) : 0) ||
          compareBallots(accepted, best.accepted)
    if (news > 0) best = { accepted, value }
  }
  for (const { promise } of answers.values()) {
    if (promise?.value === undefined) continue
    if (mayBeChosen(promised, promise.accepted)) consider(promise.accepted, promise.value)
  }
  if (known !== undefined && (byNumber || best === undefined)) consider(NO_BALLOT, known)
  return best?.value
}

/**
 * The ballot of the newest value, if the primary that is known has proposed it and the bucket goes to another node by it. Perhaps
 * it was decided, and then only this process can have learned that by this ballot: whoever else goes on from it does so by one
 * of its own. Whether the primary began it, or went on from what another had begun, only it can tell.
 */
export function giftOf(
  answers: Answers,
  known: RowValue,
  newest: RegisterValue
): Ballot | undefined {
  const { primary, epoch } = known.row
  if (newest.kind !== 'row' || primary === null || newest.row.primary === primary) return undefined
  if (newest.row.epoch <= epoch) return undefined
  for (const { promise } of answers.values()) {
    if (promise?.value !== newest) continue
    return promise.accepted.name === primary ? promise.accepted : undefined
  }
  return undefined
}

/** The highest epoch or version that anybody of them has accepted, decided or not: it is not given again. */
export function highestOf(answers: Answers, current: RegisterValue): number {
  let highest = numberOf(current)
  for (const { promise } of answers.values()) {
    if (promise?.value !== undefined) highest = Math.max(highest, numberOf(promise.value))
  }
  return highest
}

/**
 * Whether so many may have accepted in that ballot, or gone on from it, that its value was decided. What somebody
 * began and left with too few is not finished by whoever meets it later, perhaps long after it made sense.
 */
function mayBeChosen({ register, answers, voters }: Promised, ballot: Ballot): boolean {
  if (register === VOTERS_REGISTER || !decidesByMajority(voters)) return true
  let possible = 0
  for (const voter of voters.voters) {
    const promise = hasAnswered(answers, voter) ? answers.get(voter.name)?.promise : undefined
    if (promise === undefined || compareBallots(promise.accepted, ballot) >= 0) possible++
  }
  return possible >= chosenByAtLeast(voters)
}
