/** A wish to change a register, and how far the attempt to have it decided has come. */
import { NO_BALLOT, type Ballot } from '../core/agreement/ballot.js'
import type { NodeName } from '../core/ids.js'
import type { RegisterValue } from '../wire/peer/agreement.js'
import type { Answer } from './promises.js'

export interface Wish {
  readonly register: number
  /** The epoch, or version, that the change goes out from. */
  readonly expected: number
  /** Its epoch or version is given when it is proposed. Without it, whatever is there is decided once more. */
  readonly next?: RegisterValue
  readonly reason: string
  /** Whether it is still wanted; asked before each new try. Without it, it is tried to the end. */
  readonly isWanted?: () => boolean
  /** Called once: it was decided, or it is certain that it never will be. */
  readonly done?: (decided: boolean) => void
}

export interface Attempt {
  readonly wish: Wish
  phase: 'prepare' | 'accept' | 'rest'
  ballot: Ballot
  /** Answers of this ballot. */
  readonly answers: Map<NodeName, Answer>
  readonly refusals: Set<string>
  value: RegisterValue | undefined
  retryMs: number
  tries: number
  /** Some voter may have accepted it: from here on only the outcome ends it, wanted or not. */
  proposed: boolean
  /** The epoch of a row by which this node loses the bucket, and which voters accept without waiting now; 0: none. */
  conceded: number
  /**
   * The epoch of a row that some voter had accepted when this one was on its way already: it may follow what is decided
   * by this. 0: none.
   */
  doubted: number
}

export function createAttempt(wish: Wish): Attempt {
  return {
    wish,
    phase: 'rest',
    ballot: NO_BALLOT,
    answers: new Map(),
    refusals: new Set(),
    value: undefined,
    retryMs: 0,
    tries: 0,
    proposed: false,
    conceded: 0,
    doubted: 0
  }
}
