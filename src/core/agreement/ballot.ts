/**
 * Ballots order the attempts to change a register. A round belongs to one process alone: the name breaks ties
 * between nodes, and the life between two processes of one name, of which the later has forgotten which rounds
 * the earlier one used.
 */
import type { NodeName } from '../ids.js'

export interface Ballot {
  readonly round: number
  readonly name: NodeName | ''
  readonly life: number
}

/** Below every ballot: nothing was promised or accepted. */
export const NO_BALLOT: Ballot = { round: 0, name: '', life: 0 }

export function compareBallots(a: Ballot, b: Ballot): number {
  if (a.round !== b.round) return a.round - b.round
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.life - b.life
}

/** The ballot behind this one, of the same process. */
export function nextBallot({ round, name, life }: Ballot): Ballot {
  return { round: round + 1, name, life }
}
