/** What INFO and the metrics count: plain numbers, so that counting costs a command next to nothing. */
import { COMMANDS } from '../../commands/registry.js'

export interface Timed {
  calls: number
  micros: number
  /** By the most microseconds that those counted took. */
  readonly counts: Map<number, number>
}

/** A node's clock stands still while it does something, and counts milliseconds. */
const LEAST_MICROS = 1024

function bucketOf(ms: number): number {
  let micros = LEAST_MICROS
  while (micros < ms * 1000) micros *= 2
  return micros
}

export class DoorStatistics {
  connections = 0
  /** Of clients' requests and of the replies to them. */
  inputBytes = 0
  outputBytes = 0
  /** Executed here on a bucket that is here. */
  commands = 0
  /** Of these, by the place of the command in the list. */
  readonly calls = new Float64Array(COMMANDS.length)
  /** Clients that were told to ask another node instead. */
  moved = 0
  /** Clients' commands about one key that were sent on to its primary. */
  forwarded = 0
  /** Over several keys or none, sent on to another node, or made to wait. */
  aside = 0
  /** Of these, those that clients here sent, by name and by the power of two of the microseconds they took. */
  readonly timed = new Map<string, Timed>()

  note(name: string | undefined, ms: number): void {
    if (name === undefined) return
    const timed = this.timed.get(name) ?? { calls: 0, micros: 0, counts: new Map<number, number>() }
    this.timed.set(name, timed)
    timed.calls++
    timed.micros += ms * 1000
    const power = bucketOf(ms)
    timed.counts.set(power, (timed.counts.get(power) ?? 0) + 1)
  }

  /** All commands by name: those that were executed just like that took less than the clock can tell. */
  byName(): Map<string, Timed> {
    const all = new Map<string, Timed>()
    COMMANDS.forEach(({ name }, place) => {
      const calls = this.calls[place]
      if (calls > 0 && !name.startsWith('oc.')) {
        all.set(name, { calls, micros: 0, counts: new Map([[LEAST_MICROS, calls]]) })
      }
    })
    for (const [name, { calls, micros, counts }] of this.timed) {
      const known = all.get(name)
      const merged = new Map(counts)
      if (known !== undefined) {
        merged.set(LEAST_MICROS, (merged.get(LEAST_MICROS) ?? 0) + known.calls)
      }
      all.set(name, { calls: calls + (known?.calls ?? 0), micros, counts: merged })
    }
    return all
  }

  reset(): void {
    this.connections = 0
    this.commands = 0
    this.moved = 0
    this.forwarded = 0
    this.aside = 0
    this.calls.fill(0)
    this.timed.clear()
  }
}
