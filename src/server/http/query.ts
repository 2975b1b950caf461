/**
 * The query of a URL as bytes: an id may be anything, so it is decoded by byte and not as text. As in forms, `+` is a
 * blank. What cannot be decoded, and a parameter that is given twice, is a mistake and not a guess.
 */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}

export type Query = ReadonlyMap<string, Uint8Array>

export function parseQuery(url: string): Query {
  const query = new Map<string, Uint8Array>()
  const at = url.indexOf('?')
  if (at < 0) return query
  for (const part of url.slice(at + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = Buffer.from(decode(equals < 0 ? part : part.slice(0, equals))).toString('latin1')
    if (query.has(name)) throw new QueryError(`${name.slice(0, 50)} is given twice`)
    query.set(name, decode(equals < 0 ? '' : part.slice(equals + 1)))
  }
  return query
}

function decode(text: string): Uint8Array {
  const source = Buffer.from(text, 'utf8')
  const bytes = new Uint8Array(source.length)
  let length = 0
  for (let i = 0; i < source.length; i++) {
    const byte = source[i]
    if (byte === PLUS) bytes[length++] = BLANK
    else if (byte === PERCENT) {
      const hex = source.toString('latin1', i + 1, i + 3)
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) throw new QueryError('a % without two hex digits')
      bytes[length++] = Number.parseInt(hex, 16)
      i += 2
    } else bytes[length++] = byte
  }
  return bytes.slice(0, length)
}

const PLUS = 0x2b
const BLANK = 0x20
const PERCENT = 0x25

/** A whole number from `min` to `max`, or undefined where it is not given. */
export function readNumber(
  query: Query,
  name: string,
  range: { readonly min: number; readonly max: number }
): number | undefined {
  const bytes = query.get(name)
  if (bytes === undefined) return undefined
  const text = Buffer.from(bytes).toString('latin1')
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (value >= range.min && value <= range.max) return value
  throw new QueryError(`${name} must be a whole number from ${range.min} to ${range.max}`)
}
