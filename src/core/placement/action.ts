/**
 * What a node may decide to do. At most one at a time; everything that ships data is a `copy` or a
 * `move`, and a `switch` only changes roles. Nodes are given by their index in the table.
 */
import type { NodeIndex } from '../ids.js'

export type CopyKind = 'primary' | 'backup'

export type Action =
  /** Give the primary role of a bucket to one of its backups. */
  | { readonly kind: 'switch'; readonly bucket: number; readonly to: NodeIndex }
  /** Make a new backup; `replaces` names a leaving backup whose place it takes, or NOBODY. */
  | {
      readonly kind: 'copy'
      readonly bucket: number
      readonly to: NodeIndex
      readonly replaces: NodeIndex
    }
  /** Ship this node's own copy to another node and give it up. */
  | {
      readonly kind: 'move'
      readonly bucket: number
      readonly to: NodeIndex
      readonly copy: CopyKind
      /** The target takes it although it is full: to bring zones apart, or to pass one on. */
      readonly beyondShare?: boolean
    }
  /** Strike a backup that is one too many. */
  | { readonly kind: 'release'; readonly bucket: number; readonly to: NodeIndex }
  /** Cut all buckets in 16. */
  | { readonly kind: 'split' }

export interface Verdict {
  readonly rule: string
  readonly allow: boolean
  readonly reason: string
}

export interface Plan {
  readonly action: Action | undefined
  /** Why this action, or why none. */
  readonly reason: string
  /** What each rule that was asked said, in order. */
  readonly verdicts: readonly Verdict[]
}

export function allow(rule: string, reason: string): Verdict {
  return { rule, allow: true, reason }
}

export function deny(rule: string, reason: string): Verdict {
  return { rule, allow: false, reason }
}

/** Whether the action ships a bucket, and so occupies both nodes. */
export function isTransfer(action: Action): boolean {
  return action.kind === 'copy' || action.kind === 'move'
}

export function formatBucket(bucket: number): string {
  return `#${bucket.toString(16).toUpperCase()}`
}
