/** Slurm's short form of host names: `cloud[2-3,05],local1`. */
import { FactsError } from './facts-error.js'

const HOSTS_MAX = 100_000

export function expandHostList(list: string): string[] {
  const hosts: string[] = []
  for (const part of splitOutside(list)) {
    const found = /^([^[\]]*)\[([^[\]]+)\]([^[\]]*)$/.exec(part)
    if (found === null) {
      if (/[[\]]/.test(part)) throw new FactsError(`squeue: ${part.slice(0, 60)} is no host list`)
      if (part !== '') hosts.push(part)
      continue
    }
    for (const range of found[2].split(',')) {
      const ends = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range)
      if (ends === null) throw new FactsError(`squeue: ${part.slice(0, 60)} is no host list`)
      const from = Number(ends[1])
      const to = Number(ends.at(2) ?? from)
      if (to < from || to - from + hosts.length > HOSTS_MAX) {
        throw new FactsError(`squeue: ${part.slice(0, 60)} is no host list`)
      }
      for (let number = from; number <= to; number++) {
        hosts.push(`${found[1]}${String(number).padStart(ends[1].length, '0')}${found[3]}`)
      }
    }
  }
  return hosts
}

/** At commas that are in no bracket. */
function splitOutside(list: string): string[] {
  return list.split(/,(?![^[]*\])/).map((part) => part.trim())
}
