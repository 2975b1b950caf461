/**
 * Cells that everybody writes, in every way a single key can be written: plainly, only where there is nothing,
 * only where a certain value is, and removed. Whether the results make sense together is a search that grows with the
 * length of the history and the operations that overlap, so a cell is left for a new one after a few dozen.
 */
import type { Random } from '../../src/core/random.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import type { Draft } from '../client.js'
import type { Operation, Value } from '../operation.js'
import { readDone, readWhetherCounted, readWhetherDone, type Family } from './family.js'

const OPERATIONS_MAX = 60
/** Those may have happened at any time since, and so overlap with everything after them. */
const UNKNOWN_MAX = 5

interface Cell {
  readonly key: string
  operations: number
  unknown: number
  /** A value that was there lately: a swap that expects it has a chance. */
  hint: string
}

export class CellFamily implements Family {
  readonly name = 'cell'
  readonly #cells: Cell[] = []
  readonly #byKey = new Map<string, Cell>()
  #values = 0

  constructor(count: number) {
    for (let i = 0; i < count; i++) this.#cells.push(this.#create())
  }

  draw(_client: number, random: Random): Draft {
    const index = random.below(this.#cells.length)
    let cell = this.#cells[index]
    if (cell.operations >= OPERATIONS_MAX || cell.unknown >= UNKNOWN_MAX) {
      cell = this.#create()
      this.#cells[index] = cell
    }
    cell.operations++
    return this.#drawAction(cell, random)
  }

  onComplete({ place, action, outcome }: Operation): void {
    const cell = this.#byKey.get(place)
    if (cell === undefined) return
    if (outcome.kind === 'unknown' && action.kind !== 'read') cell.unknown++
    if (outcome.kind !== 'ok') return
    if (typeof outcome.value === 'string') cell.hint = outcome.value
    else if (outcome.value === true && 'value' in action) cell.hint = action.value
  }

  drawFinalReads(): Draft[] {
    return [...this.#byKey.values()].map((cell) => this.#drawRead(cell))
  }

  #create(): Cell {
    const key = `cell${this.#byKey.size}`
    const cell = { key, operations: 0, unknown: 0, hint: 'none' }
    this.#byKey.set(key, cell)
    return cell
  }

  #drawAction(cell: Cell, random: Random): Draft {
    const { key, hint } = cell
    const about = { family: this.name, key, place: key }
    const value = `v${++this.#values}`
    const choice = random.fraction()
    if (choice < 0.35) return this.#drawRead(cell)
    if (choice < 0.65) {
      const action = { kind: 'swap', expected: hint, value } as const
      return { ...about, action, args: ['SET', key, value, 'IFEQ', hint], read: readWhetherDone }
    }
    if (choice < 0.8) {
      const action = { kind: 'create', value } as const
      return { ...about, action, args: ['SET', key, value, 'NX'], read: readWhetherDone }
    }
    if (choice < 0.9) {
      return { ...about, action: { kind: 'erase' }, args: ['DEL', key], read: readWhetherCounted }
    }
    return {
      ...about,
      action: { kind: 'assign', value },
      args: ['SET', key, value],
      read: readDone
    }
  }

  #drawRead({ key }: Cell): Draft {
    const action = { kind: 'read' } as const
    return { family: this.name, key, place: key, action, args: ['GET', key], read: readText }
  }
}

function readText(reply: ReplyValue): Value | undefined {
  return reply === null || typeof reply === 'string' ? reply : undefined
}
