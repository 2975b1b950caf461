/** The replies to the parts of one command, until all are there. */
import type { Collector, Slot } from '../session.js'
import type { Gate } from '../segment.js'

export class Gathering implements Collector {
  readonly #whole: Slot
  readonly #places = new Map<Slot, number>()
  readonly #parts: Uint8Array[] = []
  readonly #done: (parts: readonly Uint8Array[]) => void
  #missing: number

  /** `whole` is the slot of the reply; it waits for whatever its parts wait for. */
  constructor(whole: Slot, count: number, done: (parts: readonly Uint8Array[]) => void) {
    this.#whole = whole
    this.#missing = count
    this.#done = done
  }

  expect(slot: Slot, place: number): void {
    this.#places.set(slot, place)
  }

  collect(slot: Slot, reply: Uint8Array, gates: readonly Gate[]): void {
    const place = this.#places.get(slot)
    if (place === undefined) return
    this.#parts[place] = reply
    // At once: whoever deposes the primary of a part must find that this reply waits for its backups.
    for (const gate of gates) this.#whole.gates = withGate(this.#whole.gates, gate)
    this.#missing--
    if (this.#missing === 0) this.#done(this.#parts)
  }
}

function withGate(gates: readonly Gate[], gate: Gate): readonly Gate[] {
  const same = gates.find(({ peer }) => peer === gate.peer)
  if (same === undefined) return [...gates, gate]
  return same.frame >= gate.frame ? gates : gates.map((other) => (other === same ? gate : other))
}
