/**
 * Writes whose outcome is always known in the end, made of compare-and-set: when the answer is lost, a look at the key says
 * what became of it, provided that nobody else writes the same value. A command that was thought lost and arrives late does no
 * harm either, since what it expects is not there any more.
 */
import { OpenClusterError } from '../errors.js'
import type { StringCommands } from './string-commands.js'

/** Attempts before the doubt is passed on to the caller. */
const ATTEMPTS_MAX = 8

export function isUnknown(error: unknown): boolean {
  return error instanceof OpenClusterError && error.code === 'OC_UNKNOWN'
}

export interface SureWrite {
  readonly key: string
  /** What must be there; null for nothing. */
  readonly expected: string | null
  readonly value: string
  readonly ttlMs: number
}

/** Whether the key holds `value` by this write, or by one of its repetitions. */
export async function writeSurely(
  client: StringCommands,
  { key, expected, value, ttlMs }: SureWrite
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.compareAndSet(key, expected, value, { ttlMs })
    } catch (error) {
      if (!isUnknown(error) || attempt === ATTEMPTS_MAX) throw error
    }
    const found = await client.get(key)
    if (found === expected) continue
    return found === value
  }
}

/** Deletes the key if it holds exactly this value; repeated until the answer is known. */
export async function deleteSurely(
  client: StringCommands,
  key: string,
  value: string
): Promise<boolean> {
  let doubt = false
  for (let attempt = 1; ; attempt++) {
    try {
      return (await client.compareAndDelete(key, value)) || doubt
    } catch (error) {
      if (!isUnknown(error) || attempt === ATTEMPTS_MAX) throw error
      doubt = true
    }
  }
}

/** For what may as well be done twice. */
export async function repeatUntilKnown<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (!isUnknown(error) || attempt === ATTEMPTS_MAX) throw error
    }
  }
}
