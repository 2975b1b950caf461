/**
 * What clients do with one kind of key: it draws what a client does next, and learns how it ended. What must be
 * true of the results is said elsewhere, by a checker.
 */
import type { Random } from '../../src/core/random.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import type { Draft } from '../client.js'
import type { Operation, Value } from '../operation.js'

export interface Family {
  readonly name: string
  /** What this client does next, or undefined where it has nothing to do at the moment. */
  draw(client: number, random: Random): Draft | undefined
  onComplete(operation: Operation): void
  /** Reads of everything that was ever written, for the end. */
  drawFinalReads(): Draft[]
}

export function readDone(reply: ReplyValue): Value | undefined {
  return reply === 'OK' ? true : undefined
}

/** `OK`, or nothing where a condition was not met. */
export function readWhetherDone(reply: ReplyValue): Value | undefined {
  return reply === 'OK' ? true : reply === null ? false : undefined
}

export function readCount(reply: ReplyValue): Value | undefined {
  return typeof reply === 'number' ? reply : undefined
}

export function readWhetherCounted(reply: ReplyValue): Value | undefined {
  return typeof reply === 'number' ? reply > 0 : undefined
}

/** Values are `place:number:padding`; anything else is NaN, which no checker lets pass. */
export function readNumberOf(place: string): (reply: ReplyValue) => Value | undefined {
  return (reply) => {
    if (reply === null) return null
    if (typeof reply !== 'string') return undefined
    if (!reply.startsWith(`${place}:`)) return NaN
    return Number(reply.slice(place.length + 1).split(':')[0])
  }
}

export function drawValue(place: string, number: number, random: Random): string {
  const length = random.chance(0.05) ? random.between(500, 4000) : random.below(60)
  return `${place}:${number}:${'x'.repeat(length)}`
}
