/**
 * What a node of a ring keeps where its process cannot lose it, if it has a disk: records, the configuration, what it has
 * promised and the writes it keeps for others. The driver is given entries in the order in which things happened and
 * puts them down before anything that followed from them leaves the node. A process that is given them back is the same
 * member as the one that wrote them: it has merely been away.
 */
import { ByteWriter } from '../../core/bytes.js'
import { encodeMemory, type MemoryEntry } from '../../wire/ring-memory.js'

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
    this.#keep?.(this.encode(entry))
  }

  /** As it is kept. */
  encode(entry: MemoryEntry): Uint8Array {
    this.#writer.reset()
    encodeMemory(entry, this.#writer)
    return this.#writer.copy()
  }
}
