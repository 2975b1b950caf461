/**
 * Which ballots of this process lead back to a proposal of its own to give a bucket away, with nobody else in between. A node that
 * finishes what it has found does so by a ballot of its own as well, and looks like the one who began it; but then others may
 * have decided the same value before, and serve the bucket. Only where the whole chain is this process's can nobody have learned
 * that the gift was decided.
 *
 * One ballot a register is enough: a later proposal of this process is only made when a quorum shows that the earlier ones are
 * not decided, or shows them, and then it goes on from them.
 */
import { compareBallots, type Ballot } from '../core/agreement/ballot.js'

export class GiftChains {
  readonly #ends = new Map<number, Ballot>()

  begin(register: number, ballot: Ballot): void {
    this.#ends.set(register, ballot)
  }

  /** A ballot goes on from what was found, which `found` had proposed if it may be a gift. */
  goOn(register: number, ballot: Ballot, found: Ballot | undefined): void {
    if (found !== undefined && this.isOwn(register, found)) this.#ends.set(register, ballot)
    else this.#ends.delete(register)
  }

  end(register: number): void {
    this.#ends.delete(register)
  }

  isOwn(register: number, ballot: Ballot): boolean {
    const end = this.#ends.get(register)
    return end !== undefined && compareBallots(end, ballot) === 0
  }
}
