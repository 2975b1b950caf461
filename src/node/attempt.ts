/** How far the attempt to have a wish decided by the voters has come. */
import { NO_BALLOT, type Ballot } from '../core/agreement/ballot.js'
import type { NodeName } from '../core/ids.js'
import type { RegisterValue } from '../wire/peer/agreement.js'
import type { Answer } from './promises.js'
import type { Wish } from './registers.js'

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
  /** Since when the word of a primary is waited for that may have given the bucket away. */
  giverMs: number
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
    doubted: 0,
    giverMs: Infinity
  }
}
