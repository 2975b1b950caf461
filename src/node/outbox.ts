/**
 * What a node asks its driver to do. The node never waits for any of it: bytes are handed over in order,
 * and what comes back comes back as an input.
 */
import type { NodeName } from '../core/ids.js'

export interface Outbox {
  /** Send to another node. The driver may lose it, but not change it. Valid only during the call: write or copy it. */
  send(address: string, envelope: Uint8Array): void
  /** Reply bytes for a client. Valid only during the call: write or copy them. */
  output(session: number, bytes: Uint8Array): void
  /** The client must be disconnected after what was put out before. */
  hangUp(session: number): void
  /**
   * The client has sent more than can be executed for now: read nothing from it until told to. A driver that cannot
   * stop reading may leave these out; the node then drops a client at its limit.
   */
  pauseReading?(session: number): void
  resumeReading?(session: number): void
  /** Bytes that were put out and that the client has not taken yet, where the driver can tell. */
  unread?(session: number): number
  /** Something people or tests want to know of. */
  event(event: NodeEvent): void
}

export type NodeEvent =
  | { readonly kind: 'joined'; readonly node: NodeName }
  | { readonly kind: 'leaving'; readonly node: NodeName }
  | { readonly kind: 'left'; readonly node: NodeName }
  | { readonly kind: 'died'; readonly node: NodeName }
  | { readonly kind: 'returned'; readonly node: NodeName }
  /** This node hears no majority and serves nothing until it does; and that it does again. */
  | { readonly kind: 'isolated'; readonly node: NodeName }
  | { readonly kind: 'serving'; readonly node: NodeName }
  | {
      readonly kind: 'row'
      readonly bucket: number
      readonly epoch: number
      readonly primary: NodeName | null
      readonly backups: readonly NodeName[]
      readonly reason: string
    }
  | {
      readonly kind: 'stage'
      readonly bucket: number
      readonly from: NodeName
      readonly to: NodeName
      readonly role: 'primary' | 'backup'
      readonly stage: string
      readonly sent: number
      /** Only roles change; nothing is shipped. */
      readonly isSwitch: boolean
      readonly reason: string
    }
  | { readonly kind: 'split'; readonly mask: number; readonly reason: string }
  | {
      readonly kind: 'promoted'
      readonly bucket: number
      readonly epoch: number
      readonly instead: NodeName
    }
  | {
      readonly kind: 'voters'
      readonly version: number
      readonly settled: boolean
      readonly voters: readonly NodeName[]
      readonly reason: string
    }
  | {
      /** Both sides of a cut wrote this key; one of the two was kept. */
      readonly kind: 'conflict'
      readonly bucket: number
      readonly key: string
      readonly keptVersion: number
      readonly droppedVersion: number
    }
  | { readonly kind: 'lost'; readonly bucket: number; readonly epoch: number }
  | { readonly kind: 'peerError'; readonly node: string; readonly reason: string }
  | { readonly kind: 'mayGo' }
