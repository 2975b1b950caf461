/** The patterns of one watcher, or of all watchers of one node. Plain keys cost one look, however many there are. */
import { matchesGlob } from '../core/glob.js'

const SPECIAL = /[*?[\\]/

export class PatternSet {
  readonly #keys = new Set<string>()
  readonly #globs = new Set<string>()

  add(pattern: string): void {
    if (SPECIAL.test(pattern)) this.#globs.add(pattern)
    else this.#keys.add(pattern)
  }

  matches(key: string): boolean {
    if (this.#keys.has(key)) return true
    for (const glob of this.#globs) if (matchesGlob(glob, key)) return true
    return false
  }
}
