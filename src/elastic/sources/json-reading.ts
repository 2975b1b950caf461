/**
 * Reads values out of JSON that a foreign program printed. Each function names the place in its refusal, because
 * "not a number" somewhere in a megabyte helps nobody.
 */
import { FactsError } from './facts-error.js'

export type JsonObject = Readonly<Record<string, unknown>>

export function parseJsonObject(text: string, what: string): JsonObject {
  if (text.trim() === '') throw new FactsError(`${what}: an empty answer`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 120) : ''
    throw new FactsError(`${what}: not whole JSON: ${why.replace(/\s+/g, ' ')}`)
  }
  return toObject(value, what)
}

export function toObject(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FactsError(`${what}: must be an object`)
  }
  return value as JsonObject
}

export function toObjects(value: unknown, what: string, most: number): JsonObject[] {
  if (!Array.isArray(value)) throw new FactsError(`${what}: must be a list`)
  if (value.length > most) throw new FactsError(`${what}: ${value.length} entries, at most ${most}`)
  return value.map((item, index) => toObject(item, `${what}[${index}]`))
}

export function toText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new FactsError(`${what}: must be a text`)
  return value
}

/** A whole number that counts something. */
export function toCount(value: unknown, what: string, most = 1_000_000_000): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > most) {
    throw new FactsError(`${what}: must be a whole number from 0 to ${most}`)
  }
  return value
}
