/**
 * A lid on what all clients together have sent and the node could not execute yet, since commands were not complete or had
 * to wait. A client alone may send half a gigabyte before its command is complete; many together must not take
 * all memory with that. Beyond the lid the one that takes most is sent away.
 */
import type { Session } from '../session.js'

/** How often it is looked at. */
const LOOK_MS = 250

export class InputLid {
  readonly #bytesMax: number
  #nextMs = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The session that has to go, if one has. */
  find(sessions: Iterable<Session>, now: number): Session | undefined {
    if (now < this.#nextMs) return undefined
    this.#nextMs = now + LOOK_MS
    let sum = 0
    let largest: Session | undefined
    for (const session of sessions) {
      sum += session.input.bytes.length
      if (isLarger(session, largest)) largest = session
    }
    return sum > this.#bytesMax ? largest : undefined
  }
}

/** By the memory it takes, and of the same size of memory by what it has sent. */
function isLarger({ input }: Session, than: Session | undefined): boolean {
  if (than === undefined) return input.bytes.length > 0
  const difference = input.bytes.length - than.input.bytes.length
  return difference > 0 || (difference === 0 && input.length > than.input.length)
}
