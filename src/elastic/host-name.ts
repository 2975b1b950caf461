/** Names of new hosts as document 004 has them: with node001, node003 and node005 there, the next is node006. */

export interface NameForm {
  readonly prefix: string
  readonly digits: number
}

/** From a pool, the first that is free; undefined when none is. */
export function chooseName(
  taken: readonly string[],
  { prefix, digits }: NameForm,
  pool?: readonly string[]
): string | undefined {
  // Schedulers may show names with a domain.
  const short = new Set(taken.map((name) => name.split('.')[0]))
  if (pool !== undefined) return pool.find((name) => !taken.includes(name) && !short.has(name))
  let highest = 0
  for (const name of short) {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    if (/^\d{1,9}$/.test(rest)) highest = Math.max(highest, Number(rest))
  }
  return `${prefix}${String(highest + 1).padStart(digits, '0')}`
}
