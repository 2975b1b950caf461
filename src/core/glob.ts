/**
 * Patterns as Redis has them: `*` any text, `?` any character, `[abc]`, `[^a-c]`, and `\` before a
 * character that means itself. A mismatch goes back to the last star only, so the cost is at
 * most pattern times text, where trying all stars again would be exponential.
 */

const STAR = 0x2a
const QUESTION = 0x3f
const OPEN = 0x5b
const CLOSE = 0x5d
const ESCAPE = 0x5c
const CARET = 0x5e
const MINUS = 0x2d

export function matchesGlob(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let afterStar = -1
  let starText = 0
  while (t < text.length) {
    if (p < pattern.length && pattern.charCodeAt(p) === STAR) {
      afterStar = ++p
      starText = t
      continue
    }
    const next = p < pattern.length ? matchOne(pattern, p, text.charCodeAt(t)) : -1
    if (next >= 0) {
      p = next
      t++
    } else {
      if (afterStar < 0) return false
      p = afterStar
      t = ++starText
    }
  }
  while (p < pattern.length && pattern.charCodeAt(p) === STAR) p++
  return p === pattern.length
}

/** The place behind what matches one character, or -1. */
function matchOne(pattern: string, at: number, code: number): number {
  const first = pattern.charCodeAt(at)
  if (first === QUESTION) return at + 1
  if (first === OPEN) return matchClass(pattern, at + 1, code)
  if (first === ESCAPE && at + 1 < pattern.length) {
    return pattern.charCodeAt(at + 1) === code ? at + 2 : -1
  }
  return first === code ? at + 1 : -1
}

/** A class that is not closed ends with the pattern. */
function matchClass(pattern: string, start: number, code: number): number {
  const { length } = pattern
  const negated = start < length && pattern.charCodeAt(start) === CARET
  let at = negated ? start + 1 : start
  let found = false
  while (at < length && pattern.charCodeAt(at) !== CLOSE) {
    let low = pattern.charCodeAt(at)
    let high = low
    if (low === ESCAPE && at + 1 < length) {
      low = high = pattern.charCodeAt(++at)
    } else if (at + 2 < length && pattern.charCodeAt(at + 1) === MINUS) {
      at += 2
      high = pattern.charCodeAt(at)
    }
    if (code >= Math.min(low, high) && code <= Math.max(low, high)) found = true
    at++
  }
  if (found === negated) return -1
  return Math.min(at + 1, length)
}

/** The pattern that matches exactly this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&')
}
