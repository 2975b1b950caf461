/**
 * Everything that a node of a ring knows now, as entries of its memory: what was kept before it need not be any more. And
 * the way back, entry by entry.
 */
import type { RingConfiguration } from '../../core/placement/ring-configuration.js'
import { SLICES } from '../../wire/peer/ring.js'
import type { MemoryEntry } from '../../wire/ring-memory.js'
import type { RingCluster } from './cluster.js'
import type { Hints } from './hints.js'
import type { Memory } from './memory.js'
import type { Succession } from './succession.js'

/** How many parts it has: one for all that is no record, and one for each slice. */
export const SNAPSHOT_PARTS = SLICES + 1

export interface SnapshotSource {
  readonly cluster: RingCluster
  readonly memory: Memory
  readonly hints: Hints
  readonly succession: Succession
}

/** In parts, so that it need not be written in one go. */
export function writeSnapshot(
  part: number,
  { cluster, memory, hints, succession }: SnapshotSource,
  write: (entry: Uint8Array) => void
): void {
  const put = (entry: MemoryEntry): void => write(memory.encode(entry))
  if (part > 0) {
    cluster.records.walk(part - 1, 0, cluster.now, ({ key }) => {
      put({ kind: 'record', payload: cluster.records.encode(key, cluster.now) })
      return true
    })
    return
  }
  put({ kind: 'memory', life: memory.life })
  const { configuration, peers } = cluster
  if (configuration.version > 0) put({ kind: 'ring', cluster: peers.cluster, configuration })
  if (succession.promise !== undefined) put(succession.promise)
  hints.forEach((name, payload) => put({ kind: 'hint', name, payload }))
}

/** What an earlier process put down; the entries come in its order. */
export function recallEntry(
  entry: MemoryEntry,
  { cluster, memory, hints, succession }: SnapshotSource,
  take: (configuration: RingConfiguration) => void
): void {
  const { clock, now, peers, records } = cluster
  switch (entry.kind) {
    case 'memory':
      memory.life = entry.life
      return
    case 'record':
      clock.observe(records.applyAll(entry.payload, now))
      return
    case 'removed':
      records.remove(entry.key)
      return
    case 'ring':
      peers.cluster = entry.cluster
      take(entry.configuration)
      succession.adopted()
      return
    case 'promise':
      succession.recall(entry)
      return
    case 'hint':
      hints.recall(entry.name, entry.payload)
      return
    case 'hintsGone':
      hints.drop(entry.name)
  }
}
