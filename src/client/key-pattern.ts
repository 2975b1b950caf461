/**
 * Patterns of `watch`, for telling which of a client's own watches an event is for: the nodes match the same way, so
 * whatever a node sends for some watch matches at least that one. They match bytes, one character here a byte.
 */
const SPECIAL = /[.*+?^${}()|[\]\\/-]/g

function quote(text: string): string {
  return text.replace(SPECIAL, '\\$&')
}

/** `*` any text, `?` any byte, `[a-c]`, `[^a]`, and `\` before a character that means itself. */
export function compilePattern(pattern: string): RegExp {
  let source = ''
  let at = 0
  while (at < pattern.length) {
    const letter = pattern[at]
    if (letter === '[') {
      const { text, next } = compileClass(pattern, at + 1)
      source += text
      at = next
      continue
    }
    if (letter === '*') {
      if (!source.endsWith('[^]*?')) source += '[^]*?'
    } else if (letter === '?') source += '[^]'
    else if (letter === '\\' && at + 1 < pattern.length) source += quote(pattern[++at])
    else source += quote(letter)
    at++
  }
  return new RegExp(`^${source}$`)
}

/** A class that is not closed ends with the pattern. */
function compileClass(pattern: string, start: number): { text: string; next: number } {
  const negated = pattern[start] === '^'
  let at = negated ? start + 1 : start
  let inside = ''
  while (at < pattern.length && pattern[at] !== ']') {
    let low = pattern[at]
    let high = low
    if (low === '\\' && at + 1 < pattern.length) low = high = pattern[++at]
    else if (pattern[at + 1] === '-' && at + 2 < pattern.length) {
      at += 2
      high = pattern[at]
    }
    inside += low <= high ? `${quote(low)}-${quote(high)}` : `${quote(high)}-${quote(low)}`
    at++
  }
  const text = inside === '' ? (negated ? '[^]' : '[]') : `[${negated ? '^' : ''}${inside}]`
  return { text, next: Math.min(at + 1, pattern.length) }
}

/** The pattern that matches exactly this text. */
export function escapePattern(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&')
}
