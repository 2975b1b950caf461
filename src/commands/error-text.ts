/** The texts of errors, letter for letter as Redis has them: clients and their tests compare them. */

export const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
export const SYNTAX_ERROR = 'ERR syntax error'
export const NOT_AN_INTEGER = 'ERR value is not an integer or out of range'
export const NOT_A_FLOAT = 'ERR value is not a valid float'
export const OUT_OF_RANGE = 'ERR value is out of range'
export const MUST_BE_POSITIVE = 'ERR value is out of range, must be positive'
export const OFFSET_OUT_OF_RANGE = 'ERR offset is out of range'
export const INDEX_OUT_OF_RANGE = 'ERR index out of range'
export const NO_SUCH_KEY = 'ERR no such key'
export const STRING_TOO_LONG = 'ERR string exceeds maximum allowed size (proto-max-bulk-len)'
export const COUNTER_OVERFLOW = 'ERR increment or decrement would overflow'
export const DECREMENT_OVERFLOW = 'ERR decrement would overflow'
export const INFINITE_RESULT = 'ERR increment would produce NaN or Infinity'
export const INVALID_CURSOR = 'ERR invalid cursor'

export function invalidExpiry(command: string): string {
  return `ERR invalid expire time in '${command}' command`
}

export function wrongArity(command: string): string {
  return `ERR wrong number of arguments for '${command}' command`
}
