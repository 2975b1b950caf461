/**
 * Replies made into what callers want. Payloads come as bytes, since the same connection carries texts and
 * binary values; RESP2 and RESP3 forms of the same thing (flat arrays and maps, texts and doubles) are both taken, because
 * an older node may not know HELLO.
 */
import { OpenClusterError } from '../errors.js'
import { RespError, type ReplyValue } from '../wire/resp/reply-value.js'

/** A reply with all payloads as text. */
export type TextReply =
  | string
  | number
  | bigint
  | boolean
  | null
  | TextReply[]
  | Map<TextReply, TextReply>
  | Set<TextReply>

/** A node answered with an error: `reply` is all it said, `kind` the first word, such as `WRONGTYPE`. */
export class ReplyError extends OpenClusterError {
  readonly reply: string
  readonly kind: string

  constructor(error: RespError) {
    super('OC_REFUSED', error.text)
    this.reply = error.text
    this.kind = error.code
  }
}

function refuse(value: ReplyValue, wanted: string): never {
  if (value instanceof RespError) throw new ReplyError(value)
  throw new OpenClusterError('OC_BAD_VALUE', `the reply is not ${wanted}`)
}

/** Above this the decoder is faster than a loop. */
const BY_HAND_MAX = 24

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function textOf(bytes: Uint8Array): string {
  const { length } = bytes
  if (length <= BY_HAND_MAX) {
    let text = ''
    for (let i = 0; i < length; i++) {
      const code = bytes[i]
      if (code > 0x7f) return decoder.decode(bytes)
      text += String.fromCharCode(code)
    }
    return text
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8')
}

export function asText(value: ReplyValue): string {
  if (value instanceof Uint8Array) return textOf(value)
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return refuse(value, 'a text')
}

export function asTextOrNull(value: ReplyValue): string | null {
  return value === null ? null : asText(value)
}

export function asBytesOrNull(value: ReplyValue): Buffer | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length)
  return Buffer.from(asText(value))
}

/** A safe integer or a double. */
export function asNumber(value: ReplyValue): number {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Uint8Array || typeof value === 'string') {
    return parseNumber(asText(value))
  }
  if (typeof value === 'bigint') {
    throw new OpenClusterError('OC_BAD_VALUE', `${value} is too large for a number`)
  }
  return refuse(value, 'a number')
}

const WORDS: Readonly<Record<string, number>> = {
  inf: Infinity,
  '+inf': Infinity,
  '-inf': -Infinity
}

function parseNumber(text: string): number {
  const word = WORDS[text.toLowerCase()] as number | undefined
  const number = word ?? (text.trim() === '' ? NaN : Number(text))
  if (Number.isNaN(number)) {
    throw new OpenClusterError('OC_BAD_VALUE', `not a number: ${text.slice(0, 64)}`)
  }
  return number
}

export function asNumberOrNull(value: ReplyValue): number | null {
  return value === null ? null : asNumber(value)
}

export function asBoolean(value: ReplyValue): boolean {
  return value !== null && asNumber(value) !== 0
}

/** OK is true, nil is false: a write under a condition. */
export function asWritten(value: ReplyValue): boolean {
  if (value === null) return false
  if (value === 'OK') return true
  return refuse(value, 'OK or nil')
}

export function asNothing(value: ReplyValue): void {
  if (value instanceof RespError) refuse(value, 'OK')
}

/** What was stored by `setJson`; its type is the caller's to know. */
export function asJson(value: ReplyValue): unknown {
  if (value === null) return null
  const text = asText(value)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OpenClusterError('OC_BAD_VALUE', `not JSON: ${reason}`)
  }
}

export function asList(value: ReplyValue): ReplyValue[] {
  if (Array.isArray(value)) return value
  if (value instanceof Set) return [...value]
  if (value instanceof Map) return [...value].flat()
  if (value === null) return []
  return refuse(value, 'a list')
}

export function asTexts(value: ReplyValue): string[] {
  return asList(value).map(asText)
}

export function asTextsOrNulls(value: ReplyValue): (string | null)[] {
  return asList(value).map(asTextOrNull)
}

export function asBytesOrNulls(value: ReplyValue): (Buffer | null)[] {
  return asList(value).map(asBytesOrNull)
}

export function asTextSet(value: ReplyValue): Set<string> {
  return new Set(asTexts(value))
}

export function asTextMap(value: ReplyValue): Map<string, string> {
  const items = asTexts(value)
  const map = new Map<string, string>()
  for (let i = 0; i + 1 < items.length; i += 2) map.set(items[i], items[i + 1])
  return map
}

/** A member of a sorted set with its score. */
export interface ScoredMember {
  readonly member: string
  readonly score: number
}

/** RESP3 has a pair an entry, RESP2 one flat list. */
export function asScored(value: ReplyValue): ScoredMember[] {
  const flat: ReplyValue[] = asList(value).flatMap((item) => (Array.isArray(item) ? item : [item]))
  const scored: ScoredMember[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) {
    scored.push({ member: asText(flat[i]), score: asNumber(flat[i + 1]) })
  }
  return scored
}

export function asTextReply(value: ReplyValue): TextReply {
  if (value instanceof Uint8Array) return textOf(value)
  if (value instanceof RespError) throw new ReplyError(value)
  if (Array.isArray(value)) return value.map(asTextReply)
  if (value instanceof Set) return new Set([...value].map(asTextReply))
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [asTextReply(key), asTextReply(item)]))
  }
  return value
}

export function asItself(value: ReplyValue): ReplyValue {
  return value
}
