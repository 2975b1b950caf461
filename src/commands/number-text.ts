/**
 * Numbers as Redis reads them from arguments and values. Integers are strict: 64 bits, no plus, no blank,
 * no leading zero, no minus zero, because a value is an integer only if it would be written the same
 * way again. Floats take everything C's strtod takes and refuse what does not fit into a double.
 */

const MINUS = 0x2d
const ZERO = 0x30
/** A minus and the 19 digits of the largest 64-bit integer. */
const LONG_TEXT_MAX = 20
/** That many digits are always exact in a double. */
const EXACT_DIGITS = 15

/** NaN where the bytes are no 64-bit integer; not exact beyond 2^53. */
export function parseInteger(bytes: Uint8Array, offset: number, length: number): number {
  if (length === 0 || length > LONG_TEXT_MAX) return NaN
  const negative = bytes[offset] === MINUS
  let at = negative ? offset + 1 : offset
  const end = offset + length
  if (end - at > EXACT_DIGITS) {
    const long = parseLong(bytes, offset, length)
    return long === undefined ? NaN : Number(long)
  }
  if (at === end) return NaN
  if (bytes[at] === ZERO) return length === 1 ? 0 : NaN
  let value = 0
  for (; at < end; at++) {
    const digit = bytes[at] - ZERO
    if (digit < 0 || digit > 9) return NaN
    value = value * 10 + digit
  }
  return negative ? -value : value
}

/** The number that the bytes are where they are a few digits and perhaps a minus, as most numbers are; NaN if not. */
export function parseDigits(bytes: Uint8Array, offset: number, length: number): number {
  const negative = length > 1 && bytes[offset] === MINUS
  if (length === 0 || length > EXACT_DIGITS) return NaN
  let value = 0
  for (let at = negative ? offset + 1 : offset; at < offset + length; at++) {
    const digit = bytes[at] - ZERO
    if (digit < 0 || digit > 9) return NaN
    value = value * 10 + digit
  }
  return negative ? -value : value
}

/** The same as `parseInteger` with all 64 bits. */
export function parseLong(bytes: Uint8Array, offset: number, length: number): bigint | undefined {
  if (length === 0 || length > LONG_TEXT_MAX) return undefined
  const negative = bytes[offset] === MINUS
  const end = offset + length
  let at = negative ? offset + 1 : offset
  if (at === end) return undefined
  if (bytes[at] === ZERO) return length === 1 ? 0n : undefined
  let value = 0n
  for (; at < end; at++) {
    const digit = bytes[at] - ZERO
    if (digit < 0 || digit > 9) return undefined
    value = value * 10n + BigInt(digit)
  }
  if (negative) value = -value
  return isLong(value) ? value : undefined
}

export function isLong(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const HEXADECIMAL = /^[+-]?0[xX](?:[\da-fA-F]+(?:\.[\da-fA-F]*)?|\.[\da-fA-F]+)(?:[pP][+-]?\d+)?$/
const INFINITE = /^[+-]?inf(?:inity)?$/i

/**
 * Mantissa times 10 or 2 to the exponent: a number as it is written, before any rounding. An
 * exponent may be anything, so whoever computes with it must bound it first.
 */
export interface WrittenNumber {
  readonly negative: boolean
  readonly mantissa: bigint
  readonly base: 2 | 10
  readonly exponent: number
  readonly infinite: boolean
}

export function readNumber(text: string): WrittenNumber | undefined {
  const negative = text.startsWith('-')
  if (INFINITE.test(text)) return { negative, mantissa: 1n, base: 10, exponent: 0, infinite: true }
  const decimal = DECIMAL.test(text)
  if (!decimal && !HEXADECIMAL.test(text)) return undefined
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text
  const parts = decimal ? unsigned.split(/e/i) : unsigned.slice(2).split(/p/i)
  const [whole, fraction = ''] = parts[0].split('.')
  const digits = whole + fraction
  const power = parts.length > 1 ? Number(parts[1]) : 0
  return {
    negative,
    mantissa: BigInt(decimal ? digits : `0x${digits}`),
    base: decimal ? 10 : 2,
    exponent: power - fraction.length * (decimal ? 1 : 4),
    infinite: false
  }
}

/** As strtod with all of the text used: too large is infinite, too small is zero; NaN if it is none. */
export function parseAnyFloat(text: string): number {
  if (DECIMAL.test(text)) return Number(text)
  const written = readNumber(text)
  if (written === undefined) return NaN
  const size = written.infinite ? Infinity : Number(written.mantissa) * 2 ** written.exponent
  return written.negative ? -size : size
}

/** NaN where the text is no double: also one too large, or too small to differ from zero. */
export function parseFiniteOrInfinite(text: string): number {
  const value = parseAnyFloat(text)
  if (Number.isFinite(value) && value !== 0) return value
  if (Number.isNaN(value)) return NaN
  const written = readNumber(text)
  if (written === undefined) return NaN
  if (value === 0) return written.mantissa === 0n ? value : NaN
  return written.infinite ? value : NaN
}
