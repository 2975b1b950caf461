/**
 * Two rows with the same epoch and different holders: both sides of a cut decided alone. Every node picks the
 * same one of the two, whatever it hears first.
 */
import type { Row } from '../core/table.js'

export function isSameRow(a: Row, b: Row): boolean {
  if (a.epoch !== b.epoch || a.primary !== b.primary) return false
  return (
    a.backups.length === b.backups.length && a.backups.every((name, i) => name === b.backups[i])
  )
}

export function preferRow(a: Row, b: Row): Row {
  return describe(a) > describe(b) ? a : b
}

function describe(row: Row): string {
  return `${row.primary ?? ''} ${row.backups.join(' ')}`
}
