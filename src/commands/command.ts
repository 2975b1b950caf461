/** The shape of a command: what it is called, what it needs, and what it does. */
import type { Call } from './call.js'

/** `write` may change its key; `memory` may need more memory and is refused when there is none. */
export type CommandFlag = 'write' | 'readonly' | 'fast' | 'memory'

export interface Command {
  /** Lower case, as in error texts. */
  readonly name: string
  /** Arguments including the name; -n means at least n. */
  readonly arity: number
  readonly flags: readonly CommandFlag[]
  /** The place of its key; 1 for nearly all. Commands over several keys are made of these. */
  readonly key: number
  readonly execute: (call: Call) => void
}
