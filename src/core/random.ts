/**
 * Chance from a seed (xoshiro128**, seeded by splitmix32). Everything random in deciding code and
 * in the simulator is drawn from one of these, so the same seed gives the same run. A generator is
 * forked, never shared, where one part drawing more must not change what another part draws.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(seed: number) {
    let state = seed | 0
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0
      let z = state ^ (state >>> 16)
      z = Math.imul(z, 0x21f0aaad)
      z ^= z >>> 15
      z = Math.imul(z, 0x735a2d97)
      return z ^ (z >>> 15)
    }
    this.#a = next()
    this.#b = next()
    this.#c = next()
    this.#d = next()
  }

  /** An unsigned 32-bit number. */
  uint32(): number {
    const x = Math.imul(this.#b, 5)
    const result = Math.imul((x << 7) | (x >>> 25), 9)
    const t = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= t
    this.#d = (this.#d << 11) | (this.#d >>> 21)
    return result >>> 0
  }

  /** In [0, 1), with 32 bits. */
  fraction(): number {
    return this.uint32() / 0x1_0000_0000
  }

  /** An integer in [0, bound). The bias of the multiplication is below 2^-20 for our bounds. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }

  /** An integer in [low, high], both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const swap = items[i]
      items[i] = items[j]
      items[j] = swap
    }
    return items
  }

  fork(): Random {
    return new Random(this.uint32())
  }
}
