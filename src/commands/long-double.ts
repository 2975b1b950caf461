/**
 * The 80-bit floats in which INCRBYFLOAT counts: a mantissa of 64 bits, rounded to the nearest, ties to
 * even. With doubles 0.1 + 0.2 would be 0.30000000000000004 where every Redis says 0.3, and
 * counters moved over from Redis would drift. Exact integers of any size make it short, and the
 * result is the same on every machine, which C's long double is not.
 */
import { readNumber } from './number-text.js'

const MANTISSA_BITS = 64
/** The exponent of the largest number lies below 2^16384, the last bit of the smallest is 2^-16445. */
const EXPONENT_END = 16384
const EXPONENT_LEAST = -16445
/** Decimal places beyond which a number is surely too large or too small. */
const PLACES_MAX = 5000
const TEXT_MAX = 5 * 1024
const FRACTION_DIGITS = 17
const FRACTION_SCALE = 10n ** BigInt(FRACTION_DIGITS)

/** `mantissa` times 2 to the `exponent`. */
export interface LongDouble {
  readonly mantissa: bigint
  readonly exponent: number
  readonly infinite: boolean
}

export const LONG_DOUBLE_ZERO: LongDouble = { mantissa: 0n, exponent: 0, infinite: false }

/** Undefined where the text is no number or one that does not fit. */
export function parseLongDouble(text: string): LongDouble | undefined {
  if (text.length >= TEXT_MAX) return undefined
  const written = readNumber(text)
  if (written === undefined) return undefined
  const { negative, mantissa, base, exponent, infinite } = written
  const signed = negative ? -mantissa : mantissa
  if (infinite) return { mantissa: signed, exponent: 0, infinite: true }
  if (mantissa === 0n) return LONG_DOUBLE_ZERO
  const places = mantissa.toString().length + (base === 10 ? exponent : exponent / 4)
  if (Math.abs(places) > PLACES_MAX || Math.abs(exponent) > PLACES_MAX * 4) return undefined
  const value = base === 2 ? round(signed, exponent) : roundDecimal(signed, exponent)
  return value.infinite || value.mantissa === 0n ? undefined : value
}

export function addLongDoubles(a: LongDouble, b: LongDouble): LongDouble {
  if (a.infinite || b.infinite) return { mantissa: 1n, exponent: 0, infinite: true }
  if (a.mantissa === 0n) return b
  if (b.mantissa === 0n) return a
  const exponent = Math.min(a.exponent, b.exponent)
  const left = a.mantissa << BigInt(a.exponent - exponent)
  return round(left + (b.mantissa << BigInt(b.exponent - exponent)), exponent)
}

/** Up to 17 digits behind the point, no zeros at the end, no exponent. */
export function formatLongDouble(value: LongDouble): string {
  const { mantissa, exponent } = value
  if (exponent >= 0) return (mantissa << BigInt(exponent)).toString()
  const size = mantissa < 0n ? -mantissa : mantissa
  const scaled = shiftRight(size * FRACTION_SCALE, -exponent)
  const digits = scaled.toString().padStart(FRACTION_DIGITS + 1, '0')
  const whole = digits.slice(0, -FRACTION_DIGITS)
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '')
  const text = fraction === '' ? whole : `${whole}.${fraction}`
  return mantissa < 0n && text !== '0' ? `-${text}` : text
}

function roundDecimal(mantissa: bigint, exponent: number): LongDouble {
  if (exponent >= 0) return round(mantissa * 10n ** BigInt(exponent), 0)
  const divisor = 10n ** BigInt(-exponent)
  // Two bits more than are kept, and a last one for "and a little more": rounding needs no others.
  const shift = Math.max(0, MANTISSA_BITS + 2 + bitLength(divisor) - bitLength(mantissa))
  const dividend = mantissa << BigInt(shift)
  const quotient = dividend / divisor
  const rest = dividend % divisor
  const last = rest === 0n ? 0n : mantissa < 0n ? -1n : 1n
  return round(quotient * 2n + last, -shift - 1)
}

function round(mantissa: bigint, exponent: number): LongDouble {
  if (mantissa === 0n) return LONG_DOUBLE_ZERO
  const excess = Math.max(bitLength(mantissa) - MANTISSA_BITS, EXPONENT_LEAST - exponent)
  if (excess > 0) {
    const size = shiftRight(mantissa < 0n ? -mantissa : mantissa, excess)
    mantissa = mantissa < 0n ? -size : size
    exponent += excess
  }
  const infinite = bitLength(mantissa) + exponent > EXPONENT_END
  return { mantissa, exponent, infinite }
}

/** Divides by 2 to the `bits`, to the nearest, ties to even. */
function shiftRight(size: bigint, bits: number): bigint {
  const shift = BigInt(bits)
  const quotient = size >> shift
  const rest = size - (quotient << shift)
  const half = 1n << (shift - 1n)
  const up = rest > half || (rest === half && (quotient & 1n) === 1n)
  return up ? quotient + 1n : quotient
}

function bitLength(value: bigint): number {
  const hex = (value < 0n ? -value : value).toString(16)
  return hex.length * 4 - Math.clz32(parseInt(hex[0], 16)) + 28
}
