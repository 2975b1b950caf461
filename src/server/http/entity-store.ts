/** What the routes of document 003 need of a cluster, whatever its placement. */
export interface Quorum {
  readonly ack: number
  readonly from: number
}

export type EntityAnswer =
  | { readonly status: 200; readonly value: Uint8Array }
  | { readonly status: 201 | 202 | 404 }
  | { readonly status: 400 | 504; readonly reason: string }

export interface EntityRange {
  /** Inclusive. */
  readonly start: Uint8Array
  /** Exclusive; empty: to the last key. */
  readonly end: Uint8Array
  readonly scope: 'node' | 'cluster'
}

export interface Entity {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export interface EntityStore {
  /** The largest `from` there can be now. */
  readonly fromMax: number
  get(key: Uint8Array, quorum: Quorum | undefined): Promise<EntityAnswer>
  put(
    key: Uint8Array,
    value: Uint8Array,
    options: { readonly quorum: Quorum | undefined; readonly ttlMs: number | undefined }
  ): Promise<EntityAnswer>
  delete(key: Uint8Array, quorum: Quorum | undefined): Promise<EntityAnswer>
  /** In the order of keys, a record at a time. */
  scan(range: EntityRange): AsyncIterable<Entity>
}
