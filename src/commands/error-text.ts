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
export const CROSS_SLOT = "CROSSSLOT Keys in request don't hash to the same slot"
export const WRONG_PASS = 'WRONGPASS invalid username-password pair or user is disabled.'
export const NO_PROTOCOL = 'NOPROTO unsupported protocol version'
export const NEGATIVE_TIMEOUT = 'ERR timeout is negative'
export const CLIENT_NAME = 'ERR Client names cannot contain spaces, newlines or special characters.'
export const INVALID_CURSOR = 'ERR invalid cursor'

export function invalidExpiry(command: string): string {
  return `ERR invalid expire time in '${command}' command`
}

export function wrongArity(command: string): string {
  return `ERR wrong number of arguments for '${command}' command`
}

const SHOWN_MAX = 128

/** Names the beginning of the arguments, as much of it as Redis shows. */
export function unknownCommand(name: string, args: readonly string[]): string {
  let shown = ''
  for (const arg of args) {
    if (shown.length >= SHOWN_MAX) break
    shown += `'${untilNul(arg).slice(0, SHOWN_MAX - shown.length)}' `
  }
  const start = untilNul(name).slice(0, SHOWN_MAX)
  return `ERR unknown command '${start}', with args beginning with: ${shown}`
}

/** Redis formats arguments as C strings. */
function untilNul(text: string): string {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

export function unknownSubcommand(word: string, command: string): string {
  const start = untilNul(word).slice(0, SHOWN_MAX)
  return `ERR unknown subcommand '${start}'. Try ${command.toUpperCase()} HELP.`
}
