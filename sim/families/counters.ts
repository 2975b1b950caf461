/** Counters that everybody increments. */
import type { Random } from '../../src/core/random.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import type { Draft } from '../client.js'
import type { Value } from '../operation.js'
import { readCount, type Family } from './family.js'

export class CounterFamily implements Family {
  readonly name = 'counter'
  readonly #count: number

  constructor(count: number) {
    this.#count = count
  }

  draw(_client: number, random: Random): Draft {
    const key = `counter${random.below(this.#count)}`
    if (random.chance(0.4)) return this.#drawRead(key)
    const action = { kind: 'increment' } as const
    return { family: this.name, key, place: key, action, args: ['INCR', key], read: readCount }
  }

  onComplete(): void {
    // Whatever happens to an increment, the next one can follow.
  }

  drawFinalReads(): Draft[] {
    return Array.from({ length: this.#count }, (_, i) => this.#drawRead(`counter${i}`))
  }

  #drawRead(key: string): Draft {
    const action = { kind: 'read' } as const
    return { family: this.name, key, place: key, action, args: ['GET', key], read: readNumber }
  }
}

function readNumber(reply: ReplyValue): Value | undefined {
  if (reply === null) return null
  return typeof reply === 'string' ? Number(reply) : undefined
}
