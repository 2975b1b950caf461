/** What a node of a ring asks its driver to do. */
import type { NodeName } from '../../core/ids.js'

export interface RingOutbox {
  /** The envelope is valid only during the call. */
  send(address: string, envelope: Uint8Array): void
  /** What came of a request. */
  answer(id: number, answer: RingAnswer): void
  event(event: RingEvent): void
  /**
   * Put this down, in this order, before anything else of this turn leaves the node: messages or answers. Absent where
   * there is no disk.
   */
  readonly keep?: (entry: Uint8Array) => void
}

/** 400: `from` is more than there are nodes. 504: too few replicas answered in time. */
export type RingAnswer =
  | { readonly status: 200; readonly value: Uint8Array; readonly version: number }
  | { readonly status: 201 | 202 | 404; readonly version: number }
  | { readonly status: 400 | 504; readonly reason: string }

export interface RingRequest {
  readonly id: number
  readonly kind: 'get' | 'put' | 'delete'
  readonly key: Uint8Array
  readonly value?: Uint8Array
  readonly ttlMs?: number
  /** Both, or neither. */
  readonly ack?: number
  readonly from?: number
}

export type RingEvent =
  | {
      readonly kind: 'ring'
      readonly version: number
      readonly stage: string
      readonly members: readonly NodeName[]
    }
  | { readonly kind: 'joined' | 'left' | 'died' | 'returned'; readonly node: NodeName }
  | { readonly kind: 'filled'; readonly version: number; readonly records: number }
  | { readonly kind: 'recalled'; readonly version: number; readonly records: number }
  | { readonly kind: 'peerError'; readonly node: string; readonly reason: string }
  | { readonly kind: 'mayGo' }
