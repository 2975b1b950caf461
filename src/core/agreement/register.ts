/**
 * One acceptor's part of one register: what it has promised, and what it has accepted. A value is decided when a
 * quorum has accepted it in one ballot; no acceptor knows that by itself. Whoever wants to change the register
 * asks a quorum for its promises first, and must go on from the value with the highest ballot it hears of
 * (CASPaxos: a register without leader or log).
 *
 * An accepted ballot promises the next ballot of the same process at once, so that a node that changes a register
 * again and again (a bucket's primary does) needs one round instead of two.
 */
import { compareBallots, NO_BALLOT, nextBallot, type Ballot } from './ballot.js'

export class Register<V> {
  promised: Ballot = NO_BALLOT
  accepted: Ballot = NO_BALLOT
  value: V | undefined

  /** Promises to accept nothing below this ballot; false if a higher one was promised. */
  prepare(ballot: Ballot): boolean {
    if (compareBallots(ballot, this.promised) < 0) return false
    this.promised = ballot
    return true
  }

  mayAccept(ballot: Ballot): boolean {
    return compareBallots(ballot, this.promised) >= 0
  }

  accept(ballot: Ballot, value: V): boolean {
    if (!this.mayAccept(ballot)) return false
    this.promised = nextBallot(ballot)
    this.accepted = ballot
    this.value = value
    return true
  }

  /** What a split makes of it: each piece goes on with the whole's past. */
  clone(): Register<V> {
    const copy = new Register<V>()
    copy.promised = this.promised
    copy.accepted = this.accepted
    copy.value = this.value
    return copy
  }
}
