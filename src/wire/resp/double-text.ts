/**
 * Doubles as text, the way Redis clients expect them: `inf`, `-inf` and `nan`, no fraction where there is
 * none, and otherwise the fewest digits that read back as the same double, which is what
 * JavaScript writes as well. Past 17 digits Redis goes over to an exponent, JavaScript only past 21.
 */
const EXPONENT_FROM = 1e17

// No two parts can match the same digits, so a long line costs no more than its length.
const DOUBLE = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

export function formatDouble(value: number): string {
  if (value === Infinity) return 'inf'
  if (value === -Infinity) return '-inf'
  if (Number.isNaN(value)) return 'nan'
  if (Object.is(value, -0)) return '-0'
  if (Math.abs(value) >= EXPONENT_FROM) return value.toExponential()
  return String(value)
}

/** A double of RESP3, or undefined where the text is none. */
export function parseDouble(text: string): number | undefined {
  if (text === 'inf' || text === '+inf') return Infinity
  if (text === '-inf') return -Infinity
  if (text === 'nan' || text === '-nan') return NaN
  return DOUBLE.test(text) ? Number(text) : undefined
}
