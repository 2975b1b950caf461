/**
 * One line an event on stderr, for people or as JSON. Hand-written, because this is all a node needs: a
 * level, a message, a few fields, a lid on what strangers can make it write, and one on its own decisions, of which a
 * rebalancing makes hundreds a second.
 */
import type { LOG_FORMATS, LOG_LEVELS } from '../config/options.js'

export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFormat = (typeof LOG_FORMATS)[number]
export type Fields = Readonly<Record<string, string | number | boolean | null>>

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  readonly write: (line: string) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

const RANKS: Readonly<Record<LogLevel, number>> = {
  debug: 0,
  info: 1,
  warn: 2,
  error: 3,
  silent: 4
}
/** The same limited line comes at most once in this time. */
const LIMIT_MS = 10_000
/** Lines of one kind that are told in this time; the others are counted. */
const PACED_MS = 1000
const DECISIONS_MAX = 10
const EACH_MAX = 10_000
/** Kinds of limited lines that are remembered. */
const LIMITED_MAX = 1000

interface Pace {
  readonly sinceMs: number
  readonly level: LogLevel
  told: number
  held: number
}

export class Log {
  readonly #options: LogOptions
  readonly #rank: number
  readonly #now: () => number
  readonly #limited = new Map<string, { sinceMs: number; held: number }>()
  readonly #paced = new Map<string, Pace>()

  constructor(options: LogOptions) {
    this.#options = options
    this.#rank = RANKS[options.level]
    this.#now = options.now ?? Date.now
  }

  debug(message: string, fields?: Fields): void {
    this.#put('debug', message, fields)
  }

  info(message: string, fields?: Fields): void {
    this.#put('info', message, fields)
  }

  warn(message: string, fields?: Fields): void {
    this.#put('warn', message, fields)
  }

  error(message: string, fields?: Fields): void {
    this.#put('error', message, fields)
  }

  /** For what the node decides: each with its reason, a few of a kind a second, the others as a number (`sweep`). */
  decision(message: string, fields: Fields, level: LogLevel = 'info'): void {
    this.#pace(message, fields, { level, most: DECISIONS_MAX })
  }

  /** For what somebody has to go through one by one: only a flood of them is counted. */
  each(message: string, fields: Fields, level: LogLevel): void {
    this.#pace(message, fields, { level, most: EACH_MAX })
  }

  #pace(message: string, fields: Fields, { level, most }: { level: LogLevel; most: number }): void {
    const now = this.#now()
    let pace = this.#paced.get(message)
    if (pace === undefined || now - pace.sinceMs >= PACED_MS) {
      if (pace !== undefined) this.#tellHeld(message, pace)
      pace = { sinceMs: now, told: 0, held: 0, level }
      this.#paced.set(message, pace)
    }
    if (pace.told < most) {
      pace.told++
      this.#put(level, message, fields)
    } else pace.held++
  }

  /** To be called now and then: says how many decisions were left out. */
  sweep(): void {
    const now = this.#now()
    for (const [message, pace] of this.#paced) {
      if (now - pace.sinceMs < PACED_MS) continue
      this.#paced.delete(message)
      this.#tellHeld(message, pace)
    }
  }

  #tellHeld(message: string, { held, level }: Pace): void {
    if (held > 0) this.#put(level, message, { more: held })
  }

  /** For what strangers can cause: once in ten seconds a kind, with the number of those left out. */
  limited(kind: string, message: string, fields: Fields = {}): void {
    const now = this.#now()
    const known = this.#limited.get(kind)
    if (known !== undefined && now - known.sinceMs < LIMIT_MS) {
      known.held++
      return
    }
    if (this.#limited.size >= LIMITED_MAX) this.#limited.clear()
    this.#limited.set(kind, { sinceMs: now, held: 0 })
    const held = known?.held ?? 0
    this.#put('warn', message, held === 0 ? fields : { ...fields, suppressed: held })
  }

  #put(level: LogLevel, message: string, fields: Fields = {}): void {
    if (RANKS[level] < this.#rank) return
    const time = new Date(this.#now()).toISOString()
    if (this.#options.format === 'json') {
      this.#options.write(`${JSON.stringify({ time, level, message, ...fields })}\n`)
      return
    }
    const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${formatField(value)}`)
    this.#options.write(`${time.slice(11, 23)} ${level.padEnd(5)} ${message}${rest.join('')}\n`)
  }
}

/** Text from outside must not be able to forge a line. */
function formatField(value: string | number | boolean | null): string {
  const text = String(value)
  return /^[\x21\x23-\x7e]+$/.test(text) ? text : JSON.stringify(text)
}
