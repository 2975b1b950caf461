/** What registers hold: rows and the set of voters, and how two of them are compared. */
import type { RegisterValue } from '../wire/peer/agreement.js'

/** The epoch of a row, the version of a set of voters. */
export function numberOf(value: RegisterValue): number {
  return value.kind === 'row' ? value.row.epoch : value.set.version
}

/** Whether it makes this node a voter. */
export function isNamed(value: RegisterValue, name: string): boolean {
  return value.kind === 'voters' && value.set.voters.some((voter) => voter.name === name)
}

/** The same holders, or the same voters, whatever the number. */
export function isSame(a: RegisterValue, b: RegisterValue): boolean {
  if (a.kind === 'row') {
    return (
      b.kind === 'row' &&
      a.row.primary === b.row.primary &&
      a.row.backups.length === b.row.backups.length &&
      a.row.backups.every((name, i) => name === b.row.backups[i])
    )
  }
  return (
    b.kind === 'voters' &&
    a.set.settled === b.set.settled &&
    a.set.strict === b.set.strict &&
    a.set.voters.length === b.set.voters.length &&
    a.set.voters.every(({ name, life }, i) => {
      const other = b.set.voters[i]
      return name === other.name && life === other.life
    })
  )
}
