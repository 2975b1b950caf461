/**
 * What a node of a ring keeps where its process cannot lose it, if it has a disk: records, the configuration, what it has
 * promised and the writes it keeps for others. The driver is given entries in the order in which things happened and
 * puts them down before anything that followed from them leaves the node. A process that is given them back is the same
 * member as the one that wrote them: it has merely been away.
 */
import { ByteWriter } from '../../core/bytes.js'
import { SLICES } from '../../wire/peer/ring.js'
import { encodeMemory, type MemoryEntry } from '../../wire/ring-memory.js'
import type { RingCluster } from './cluster.js'
import type { Hints } from './hints.js'
import type { Succession } from './succession.js'

/** How many parts `snapshot` has: one for all that is no record, and one for each slice. */
export const SNAPSHOT_PARTS = SLICES + 1

export class Memory {
  /** Of the process that began it; 0 until one has. */
  life = 0
  readonly #keep: ((entry: Uint8Array) => void) | undefined
  readonly #writer = new ByteWriter(1024)

  constructor(keep: ((entry: Uint8Array) => void) | undefined) {
    this.#keep = keep
  }

  begin(life: number): void {
    this.life = life
    this.note({ kind: 'memory', life })
  }

  get isKept(): boolean {
    return this.#keep !== undefined
  }

  note(entry: MemoryEntry): void {
    this.#keep?.(this.#encode(entry))
  }

  /** Everything that is known now, in parts, so that it need not be written in one go. */
  snapshot(
    part: number,
    of: { readonly cluster: RingCluster; readonly hints: Hints; readonly succession: Succession },
    write: (entry: Uint8Array) => void
  ): void {
    const put = (entry: MemoryEntry): void => write(this.#encode(entry))
    const { cluster, hints, succession } = of
    if (part > 0) {
      cluster.records.walk(part - 1, 0, cluster.now, ({ key }) => {
        put({ kind: 'record', payload: cluster.records.encode(key, cluster.now) })
        return true
      })
      return
    }
    put({ kind: 'memory', life: this.life })
    const { configuration, peers } = cluster
    if (configuration.version > 0) put({ kind: 'ring', cluster: peers.cluster, configuration })
    if (succession.promise !== undefined) put(succession.promise)
    hints.forEach((name, payload) => put({ kind: 'hint', name, payload }))
  }

  #encode(entry: MemoryEntry): Uint8Array {
    this.#writer.reset()
    encodeMemory(entry, this.#writer)
    return this.#writer.copy()
  }
}
