/**
 * Where those who can be heard decide, a cut can make two primaries, and one of two writes to a key is dropped when they
 * meet again. That much is promised: no acknowledged write is missing at the end whose key was not told as a conflict
 * (or whose bucket as lost). Keys with one writer and growing numbers are looked at.
 */
import type { NodeEvent } from '../../src/node/outbox.js'
import type { Operation } from '../operation.js'
import { BrokenPromise, type Checker } from './checker.js'

interface Place {
  readonly key: string
  /** The highest number that was acknowledged, and whether it was a removal. */
  number: number
  removed: boolean
  /** What was read at rest. */
  read: number | null | undefined
}

export class LossesChecker implements Checker {
  readonly name = 'only what is told as a conflict is lost'
  conflicts = 0
  readonly #places = new Map<string, Place>()
  readonly #told = new Set<string>()
  readonly #doubtful = new Set<string>()
  #bucketsLost = 0
  #rested = false

  onEvent(_node: string, event: NodeEvent): void {
    if (event.kind === 'lost') this.#bucketsLost++
    if (event.kind !== 'conflict') return
    this.conflicts++
    this.#told.add(event.key)
  }

  onRest(): void {
    this.#rested = true
  }

  onComplete({ key, place: id, family, action, outcome }: Operation): void {
    // Those that wait for no backup are promised nothing.
    if (family === 'loose') return
    if (outcome.kind !== 'ok') {
      // Whatever is read may be this one; its writer leaves the place alone from here on.
      if (action.kind !== 'read') this.#doubtful.add(id)
      return
    }
    const place = this.#places.get(id) ?? { key, number: 0, removed: true, read: undefined }
    if (action.kind === 'put' && action.ttlMs === undefined)
      this.#note(id, place, action.number, false)
    // One that found nothing there has deleted nothing, and says so: what the other side of a cut wrote stays.
    if (action.kind === 'remove' && outcome.value !== 0) this.#note(id, place, action.number, true)
    if (action.kind !== 'read' || !this.#rested || !this.#places.has(id)) return
    const { value } = outcome
    place.read = typeof value === 'number' ? value : null
  }

  onEnd(): void {
    if (this.#bucketsLost > 0) return
    for (const [id, { key, number, removed, read }] of this.#places) {
      if (read === undefined || this.#told.has(key) || this.#doubtful.has(id)) continue
      const isThere = read === null ? removed || number === 0 : read >= number
      if (isThere) continue
      const text = `${id}: ${read ?? 'nothing'} was read at the end, but ${number} was acknowledged`
      throw new BrokenPromise(this.name, `${text} and no conflict was told`)
    }
  }

  #note(id: string, place: Place, number: number, removed: boolean): void {
    if (number < place.number) return
    place.number = number
    place.removed = removed
    this.#places.set(id, place)
  }
}
