/** Who waits for which key, each key's in the order in which they came. */
import type { Peer } from '../peers.js'
import type { Slot } from '../session.js'

/** A command that is executed here as soon as it can be. */
export interface Waiter {
  readonly kind: 'command'
  readonly slot: Slot
  readonly keys: readonly string[]
  /** Tries to take something; true if it has been answered. */
  serve(): boolean
}

/** Somebody who is only told, here or at another node. */
export interface Alert {
  readonly kind: 'alert'
  readonly peer: Peer | undefined
  readonly id: number
  readonly keys: readonly string[]
  tell(key: string): void
}

export type Entry = Waiter | Alert

export class WaitingList {
  readonly #byKey = new Map<string, Set<Entry>>()
  readonly #touched = new Set<string>()
  /** Those who wait for anything; looked at by every write. */
  size = 0

  /** Keys that somebody waits for. */
  get keys(): number {
    return this.#byKey.size
  }

  get isTouched(): boolean {
    return this.#touched.size > 0
  }

  add(entry: Entry): void {
    this.size++
    for (const key of entry.keys) {
      const entries = this.#byKey.get(key)
      if (entries === undefined) this.#byKey.set(key, new Set([entry]))
      else entries.add(entry)
    }
  }

  remove(entry: Entry): void {
    let was = false
    for (const key of entry.keys) {
      const entries = this.#byKey.get(key)
      if (entries?.delete(entry) === true) was = true
      if (entries?.size === 0) this.#byKey.delete(key)
    }
    if (was) this.size--
  }

  /** Something was put there, perhaps. */
  touch(key: string): void {
    if (this.#byKey.has(key)) this.#touched.add(key)
  }

  /** The next key that something was put to, with those who wait for it. */
  takeTouched(): { key: string; entries: Entry[] } | undefined {
    for (const key of this.#touched) {
      this.#touched.delete(key)
      const entries = this.#byKey.get(key)
      if (entries !== undefined) return { key, entries: [...entries] }
    }
    return undefined
  }

  /** All of them, once each. */
  all(): Set<Entry> {
    const all = new Set<Entry>()
    for (const entries of this.#byKey.values()) for (const entry of entries) all.add(entry)
    return all
  }
}
