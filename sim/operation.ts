/**
 * What clients did and what came of it: the histories that checkers read. An operation is told in the words
 * of what it means (put number 7, read), not of the command it was, so that a string, a field of a
 * hash and a list can be held to the same promise.
 */
export type Action =
  | { readonly kind: 'read' }
  /** One writer, numbers that grow; with `ttlMs` it is gone that much later. */
  | { readonly kind: 'put'; readonly number: number; readonly ttlMs?: number }
  | { readonly kind: 'remove'; readonly number: number }
  | { readonly kind: 'increment' }
  | { readonly kind: 'append'; readonly piece: string }
  /** Many writers, values that are never used twice. */
  | { readonly kind: 'assign'; readonly value: string }
  | { readonly kind: 'create'; readonly value: string }
  | { readonly kind: 'swap'; readonly expected: string; readonly value: string }
  | { readonly kind: 'erase' }
  /** Something about the session; no promise is held to it but that it is answered. */
  | { readonly kind: 'session' }

/** What a reply means: the number or value read, the pieces of a log, whether something was done. */
export type Value = number | string | boolean | null | readonly string[]

export type Outcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'ok'; readonly value: Value }
  /** Refused: it was not done and never will be. */
  | { readonly kind: 'error'; readonly text: string }
  /** Done, or not, or later: nobody can tell. */
  | { readonly kind: 'unknown'; readonly why: 'timeout' | 'cut' | 'reply'; readonly text: string }

export interface Operation {
  readonly id: number
  readonly client: number
  readonly family: string
  /** The key in the store. */
  readonly key: string
  /** What the action is about: the key, or a field of it. */
  readonly place: string
  readonly action: Action
  readonly args: readonly string[]
  readonly invokedMs: number
  /** Infinity while it is pending. */
  completedMs: number
  outcome: Outcome
}

export function describeOperation(operation: Operation): string {
  const { client, args, invokedMs, completedMs, outcome } = operation
  const times = `${seconds(invokedMs)}..${completedMs === Infinity ? '' : seconds(completedMs)}`
  const shown = args.map((arg) => (arg.length > 40 ? `${arg.slice(0, 40)}…` : arg)).join(' ')
  return `client ${client} ${shown} [${times}] ${describeOutcome(outcome)}`
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'pending':
      return 'pending'
    case 'ok': {
      const { value } = outcome
      return `= ${typeof value === 'object' && value !== null ? `[${value.join(' ')}]` : String(value)}`
    }
    case 'error':
      return `refused: ${outcome.text}`
    case 'unknown':
      return `unknown (${outcome.why}${outcome.text === '' ? '' : `: ${outcome.text}`})`
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6)
}
