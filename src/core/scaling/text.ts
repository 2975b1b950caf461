/** Figures as a person reads them in a verdict. */

const SECOND_MS = 1000

/** `45 s`, `16 min`, `26 h 05 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / SECOND_MS)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** `1 host`, `2 hosts`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const NAMES_MAX = 5

/** The first few names, and how many more there are. */
export function listNames(names: readonly string[]): string {
  if (names.length <= NAMES_MAX) return names.join(', ')
  return `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`
}
