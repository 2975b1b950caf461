/** While nothing but joins and removals happens, every request is answered, and none with 504. */
import { BrokenPromise } from '../../checkers/checker.js'
import type { RingOperation } from '../workload.js'
import type { RingChecker } from './checker.js'

export class NoRefusalChecker implements RingChecker {
  readonly name = 'no request is refused because of a change of the ring'
  readonly #isOn: () => boolean

  constructor(isOn: () => boolean) {
    this.#isOn = isOn
  }

  onComplete({ call, reply, client }: RingOperation): void {
    if (!this.#isOn() || (reply !== undefined && reply.status !== 504 && reply.status !== 400))
      return
    const status = reply?.status ?? 'no answer'
    throw new BrokenPromise(this.name, `client ${client} ${call.kind} ${call.key}: ${status}`)
  }
}
