/**
 * Whether a host offers what a job asks for. Text must be equal, `|` separates alternatives and a
 * trailing `*` stands for any ending, as Grid Engine writes them; a number is the least there must be.
 * A request that no host and no template knows says nothing (run-time limits are requested like
 * architectures, and no host "offers" them), so the caller leaves those out first.
 */
import type { Resources } from './facts.js'

/** The first request that is not met, or undefined. */
export function findUnmet(offered: Resources, wanted: Resources): string | undefined {
  for (const name of Object.keys(wanted)) {
    if (!(name in offered)) return name
    if (!meets(offered[name], wanted[name])) return name
  }
  return undefined
}

function meets(offered: string | number, wanted: string | number): boolean {
  if (typeof offered === 'number') return offered >= Number(wanted)
  if (typeof wanted === 'number') return Number(offered) >= wanted
  return wanted.split('|').some((pattern) => matchesPattern(offered, pattern.trim()))
}

/** A name, or the beginning of names if it ends in `*`. */
export function matchesPattern(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

export function formatResources(wanted: Resources): string {
  return Object.keys(wanted)
    .sort()
    .map((name) => `${name}=${wanted[name]}`)
    .join(',')
}
