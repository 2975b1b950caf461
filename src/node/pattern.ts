/**
 * Patterns over keys as Redis has them: `*`, `?`, `[abc]`, `[a-z]`, `[^…]`, and `\` for the letter itself.
 * Matched without backtracking deeper than the last star, so no pattern takes more than quadratic time.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let [p, t, starAt, retryAt] = [0, 0, -1, 0]
  while (t < text.length) {
    if (pattern[p] === '*') {
      starAt = p++
      retryAt = t
      continue
    }
    const after = p < pattern.length ? matchOne(pattern, p, text[t]) : -1
    if (after !== -1) {
      p = after
      t++
    } else if (starAt !== -1) {
      p = starAt + 1
      t = ++retryAt
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** The place after the element at `p` if it takes the letter, else -1. */
function matchOne(pattern: string, p: number, letter: string): number {
  if (pattern[p] === '?') return p + 1
  if (pattern[p] === '[') return matchSet(pattern, p + 1, letter)
  const at = pattern[p] === '\\' && p + 1 < pattern.length ? p + 1 : p
  return pattern[at] === letter ? at + 1 : -1
}

function matchSet(pattern: string, start: number, letter: string): number {
  const negated = pattern[start] === '^'
  let at = negated ? start + 1 : start
  let found = false
  while (at < pattern.length && pattern[at] !== ']') {
    if (pattern[at] === '\\' && at + 1 < pattern.length) at++
    const low = pattern[at]
    if (pattern[at + 1] === '-' && at + 2 < pattern.length && pattern[at + 2] !== ']') {
      const high = pattern[at + 2]
      const [from, to] = low <= high ? [low, high] : [high, low]
      if (letter >= from && letter <= to) found = true
      at += 3
    } else {
      if (low === letter) found = true
      at++
    }
  }
  return found !== negated ? Math.min(at + 1, pattern.length) : -1
}
