/**
 * A line typed by hand (telnet, netcat, health checks), cut into arguments by Redis's rules: blanks
 * separate; "…" knows \n \r \t \b \a \xHH and takes any other escaped character as itself; '…' knows
 * only \'; a closing quote must be followed by a blank or the end. What an escape stands for is
 * never longer than the escape, so arguments are resolved in place and stay offsets into the bytes.
 */
export interface ArgumentList {
  addArgument(index: number, offset: number, length: number): void
}

export const UNBALANCED = -1

const BACKSLASH = 0x5c
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const SPACE = 0x20
const LETTER_X = 0x78

/** Cuts [start, end), and returns how many arguments there are, or UNBALANCED. */
export function splitInline(
  bytes: Uint8Array,
  start: number,
  end: number,
  list: ArgumentList
): number {
  let count = 0
  let p = start
  for (;;) {
    while (p < end && isSpace(bytes[p])) p++
    if (p === end) return count
    const argument = p
    let out = p
    let quote = 0
    while (p < end) {
      const byte = bytes[p]
      if (quote === 0) {
        if (endsWord(byte)) break
        if (byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE) quote = byte
        else bytes[out++] = byte
        p++
      } else if (byte === quote) {
        p++
        if (p < end && !isSpace(bytes[p])) return UNBALANCED
        quote = 0
        break
      } else if (byte !== BACKSLASH || p + 1 === end) {
        bytes[out++] = byte
        p++
      } else if (quote === SINGLE_QUOTE) {
        if (bytes[p + 1] === SINGLE_QUOTE) p++
        bytes[out++] = bytes[p++]
      } else if (isHexEscape(bytes, p, end)) {
        bytes[out++] = (hexDigit(bytes[p + 2]) << 4) | hexDigit(bytes[p + 3])
        p += 4
      } else {
        bytes[out++] = unescape(bytes[p + 1])
        p += 2
      }
    }
    if (quote !== 0) return UNBALANCED
    list.addArgument(count++, argument, out - argument)
  }
}

/** What C's isspace says: between words all of these are skipped. */
function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
}

/** Redis ends an unquoted word at fewer characters than it skips: VT and FF are part of it. */
function endsWord(byte: number): boolean {
  return byte === SPACE || byte === 0x09 || byte === 0x0a || byte === 0x0d
}

function isHexEscape(bytes: Uint8Array, p: number, end: number): boolean {
  return (
    p + 3 < end &&
    bytes[p + 1] === LETTER_X &&
    hexDigit(bytes[p + 2]) >= 0 &&
    hexDigit(bytes[p + 3]) >= 0
  )
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function unescape(byte: number): number {
  switch (byte) {
    case 0x6e: // n
      return 0x0a
    case 0x72: // r
      return 0x0d
    case 0x74: // t
      return 0x09
    case 0x62: // b
      return 0x08
    case 0x61: // a
      return 0x07
    default:
      return byte
  }
}
