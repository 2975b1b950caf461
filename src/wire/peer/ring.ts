/**
 * What the nodes of a ring say to each other; ring-codec.ts makes bytes of it. Records travel as the store's items (src/store/item.ts), with
 * the record's `from` where buckets have their placement hash. `version` is that of the sender's configuration:
 * whoever knows a newer one refuses, so that nobody reads or writes by a ring that is no more.
 *
 *   ringHello     memory                              ringHinted
 *   ringBeat      version flags records               flags: 1 filled, 2 drained
 *   ringWish      member                              ringConfig   cluster configuration
 *   ringPrepare   version round                       ringPromise  version round flags highest (ballot configuration)?
 *   ringPropose   version round configuration         ringAccepted version round flags highest
 *   ringRead      id version key                      ringValue    id status item?
 *   ringWrite     id version item                     ringWritten  id status number
 *   ringItems     item*
 *   ringPull      version slice position flags        ringPulled   version slice position flags payload
 *   ringFetch     count key*                          (answered by ringItems)
 *   ringDigests   version first last count (slice u32 u32)*
 *   ringDiffer    version count slice*
 *   ringOffer     id version count (key number u32)*    ringLacks    id count index*
 *   ringScan      id after flags end limit            ringScanned  id flags item*
 *   member        name life address url zone positions positions flags     flags: 1 hollow, 2 leaving
 *   configuration version stage copies count member*  positions    count i32*
 */
import type { Ballot } from '../../core/agreement/ballot.js'
import type {
  RingConfiguration,
  RingMemberRecord
} from '../../core/placement/ring-configuration.js'

/** `stale`: the asker's configuration is old; `hollow`: this node may lack what it is asked for. */
export const RING_STATUSES = ['ok', 'newer', 'stale', 'hollow'] as const
export type RingStatus = (typeof RING_STATUSES)[number]

export type RingMessage =
  /**
   * The first on every stream: the life of the process whose memory the sender has. Its own, or that of an earlier process
   * of its name where it has a disk; then it has forgotten nothing, and is the same member as before.
   */
  | { readonly kind: 'ringHello'; readonly memory: number }
  /** What was kept for you has been sent. */
  | { readonly kind: 'ringHinted' }
  | {
      readonly kind: 'ringBeat'
      readonly version: number
      /** It has everything this configuration gives it. */
      readonly filled: boolean
      /** It holds nothing any more. */
      readonly drained: boolean
      readonly records: number
    }
  /** Please make this my record. */
  | { readonly kind: 'ringWish'; readonly member: RingMemberRecord }
  /** This is decided. */
  | {
      readonly kind: 'ringConfig'
      readonly cluster: number
      readonly configuration: RingConfiguration
    }
  | { readonly kind: 'ringPrepare'; readonly version: number; readonly round: number }
  | {
      readonly kind: 'ringPromise'
      readonly version: number
      readonly round: number
      readonly ok: boolean
      readonly highest: number
      readonly accepted:
        { readonly ballot: Ballot; readonly configuration: RingConfiguration } | undefined
    }
  | {
      readonly kind: 'ringPropose'
      readonly version: number
      readonly round: number
      readonly configuration: RingConfiguration
    }
  | {
      readonly kind: 'ringAccepted'
      readonly version: number
      readonly round: number
      readonly ok: boolean
      readonly highest: number
    }
  | {
      readonly kind: 'ringRead'
      readonly id: number
      readonly version: number
      /** The key. */
      readonly payload: Uint8Array
    }
  /** The item; empty: nothing is known of the key. */
  | {
      readonly kind: 'ringValue'
      readonly id: number
      readonly status: RingStatus
      readonly payload: Uint8Array
    }
  | {
      readonly kind: 'ringWrite'
      readonly id: number
      readonly version: number
      readonly payload: Uint8Array
    }
  /** With `newer`, the version that is held. */
  | {
      readonly kind: 'ringWritten'
      readonly id: number
      readonly status: RingStatus
      readonly number: number
    }
  | { readonly kind: 'ringItems'; readonly payload: Uint8Array }
  /** Give me what I should have and may not have, from this place on. */
  | {
      readonly kind: 'ringPull'
      readonly version: number
      readonly slice: number
      readonly position: number
      /** Whole items; else only keys and versions. */
      readonly whole: boolean
    }
  | {
      readonly kind: 'ringPulled'
      readonly version: number
      /** Where to go on. */
      readonly slice: number
      readonly position: number
      readonly whole: boolean
      readonly done: boolean
      readonly payload: Uint8Array
    }
  | { readonly kind: 'ringFetch'; readonly keys: readonly Uint8Array[] }
  /** Of what we both hold in these slices; those left out are empty. */
  | {
      readonly kind: 'ringDigests'
      readonly version: number
      readonly first: number
      readonly last: number
      readonly digests: readonly SliceDigest[]
    }
  /** In these we differ: tell me what you have. */
  | { readonly kind: 'ringDiffer'; readonly version: number; readonly slices: readonly number[] }
  /** I have these; which of them do you lack? */
  | {
      readonly kind: 'ringOffer'
      readonly id: number
      readonly version: number
      readonly entries: readonly OfferEntry[]
    }
  | { readonly kind: 'ringLacks'; readonly id: number; readonly lacks: readonly number[] }
  | {
      readonly kind: 'ringScan'
      readonly id: number
      readonly start: Uint8Array
      readonly inclusive: boolean
      /** Exclusive; empty: to the last key. */
      readonly end: Uint8Array
      readonly limit: number
    }
  | {
      readonly kind: 'ringScanned'
      readonly id: number
      readonly done: boolean
      readonly payload: Uint8Array
    }

export interface SliceDigest {
  readonly slice: number
  readonly first: number
  readonly second: number
}

export interface OfferEntry {
  readonly key: Uint8Array
  readonly version: number
  /** Of the record's contents: two writers may have given out one version. 0 for what is deleted. */
  readonly check: number
}

/** New kinds go to the end: the place in the list is the number on the wire. */
export const RING_KINDS = [
  'ringBeat',
  'ringWish',
  'ringConfig',
  'ringPrepare',
  'ringPromise',
  'ringPropose',
  'ringAccepted',
  'ringRead',
  'ringValue',
  'ringWrite',
  'ringWritten',
  'ringItems',
  'ringPull',
  'ringPulled',
  'ringFetch',
  'ringDigests',
  'ringDiffer',
  'ringOffer',
  'ringLacks',
  'ringScan',
  'ringScanned',
  'ringHello',
  'ringHinted'
] as const satisfies readonly RingMessage['kind'][]

const KIND_SET: ReadonlySet<string> = new Set(RING_KINDS)

export function isRingMessage(message: { readonly kind: string }): message is RingMessage {
  return KIND_SET.has(message.kind)
}

/** The circle is cut into so many slices; a record lies in that of its position. */
export const SLICES = 4096
