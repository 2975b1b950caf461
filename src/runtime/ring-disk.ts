/**
 * Where a node of a ring puts down what it must not forget: a folder with a log in numbered pieces. An entry is a length, a
 * check and its bytes; what a turn led to is written in one go, before any of it leaves the node, so that a process
 * that is killed has forgotten nothing it told anybody. The machine may lose the last second with its power.
 *
 * When the log has grown to twice what it comes to, a new piece is begun; all that is known is written to it, little by
 * little between the turns, in between what happens meanwhile; then the older pieces are deleted. All pieces in their
 * order give the same state at every moment of this, so a crash in the middle needs no care. A folder that was deleted is
 * made again, and the node begins with nothing.
 */
import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { murmur3 } from '../core/hash/murmur3.js'

const HEAD_BYTES = 8
const CHECK_SEED = 0x6f63
/** Nothing that a node puts down is larger: a value, its key and some words. */
const ENTRY_BYTES_MAX = 64 * 1024 * 1024
const READ_BYTES = 1024 * 1024
const BUFFER_BYTES = 256 * 1024
/** A log below this is never worth writing anew. */
const COMPACT_BYTES_MIN = 32 * 1024 * 1024
/** How much of the new piece is written at the end of one turn. */
const STEP_BYTES = 512 * 1024
const SYNC_MS = 1000
const PIECE = /^ring-(\d{8})\.log$/

/** Writes one part of everything that is known. */
export type Snapshot = (part: number, write: (entry: Uint8Array) => void) => void

export class RingDisk {
  readonly #folder: string
  readonly #sync: NodeJS.Timeout
  #pieces: number[]
  #fd = -1
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #length = 0
  /** Of all pieces. */
  #bytes = 0
  #compactedBytes = 0
  /** The next part to be written anew; -1 while there is nothing to do. */
  #part = -1
  #unsynced = false

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    this.#lock()
    this.#pieces = readdirSync(folder)
      .flatMap((name) => PIECE.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b)
    this.#sync = setInterval(() => this.#syncLater(), SYNC_MS)
    this.#sync.unref()
  }

  /** When something was last put down, in milliseconds; 0 for an empty folder. */
  get lastMs(): number {
    const last = this.#pieces.at(-1)
    return last === undefined ? 0 : statSync(this.#pathOf(last)).mtimeMs
  }

  /** Everything that was put down, in its order. What the last process did not finish writing is cut off. */
  read(take: (entry: Uint8Array) => void): void {
    for (const piece of this.#pieces) {
      const fd = openSync(this.#pathOf(piece), 'r+')
      try {
        const whole = readEntries(fd, take)
        ftruncateSync(fd, whole)
        this.#bytes += whole
      } finally {
        closeSync(fd)
      }
    }
    this.#compactedBytes = this.#bytes
    const last = this.#pieces.at(-1)
    if (last !== undefined) this.#fd = openSync(this.#pathOf(last), 'a')
  }

  /** What was put down is of no use. */
  clear(): void {
    if (this.#fd >= 0) closeSync(this.#fd)
    this.#fd = -1
    for (const piece of this.#pieces) unlinkSync(this.#pathOf(piece))
    this.#pieces = []
    this.#bytes = 0
    this.#compactedBytes = 0
    this.#length = 0
  }

  /** Taken down; on the disk with the next `commit`. */
  keep(entry: Uint8Array): void {
    const size = HEAD_BYTES + entry.length
    if (this.#length + size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + size))
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    const check = murmur3(entry, 0, entry.length, CHECK_SEED)
    this.#buffer.writeUInt32LE(entry.length, this.#length)
    this.#buffer.writeInt32LE(check, this.#length + 4)
    this.#buffer.set(entry, this.#length + HEAD_BYTES)
    this.#length += size
  }

  /** At the end of a turn; `parts` and `snapshot` are for writing everything anew when that is worth it. */
  commit(parts: number, snapshot: Snapshot): void {
    this.#write()
    if (this.#part < 0 && this.#bytes > Math.max(COMPACT_BYTES_MIN, 2 * this.#compactedBytes)) {
      this.#open()
      this.#part = 0
    }
    if (this.#part < 0) return
    while (this.#part < parts && this.#length < STEP_BYTES) {
      snapshot(this.#part++, (entry) => this.keep(entry))
    }
    this.#write()
    if (this.#part >= parts) this.#dropOlder()
  }

  close(): void {
    clearInterval(this.#sync)
    this.#write()
    if (this.#fd >= 0) {
      fsyncSync(this.#fd)
      closeSync(this.#fd)
    }
    this.#fd = -1
    unlinkSync(join(this.#folder, 'lock'))
  }

  #write(): void {
    if (this.#length === 0) return
    if (this.#fd < 0) this.#open()
    for (let at = 0; at < this.#length;) {
      at += writeSync(this.#fd, this.#buffer, at, this.#length - at)
    }
    this.#bytes += this.#length
    this.#length = 0
    this.#unsynced = true
    if (this.#buffer.length > 16 * BUFFER_BYTES) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  }

  #open(): void {
    if (this.#fd >= 0) closeSync(this.#fd)
    const piece = (this.#pieces.at(-1) ?? 0) + 1
    this.#pieces.push(piece)
    this.#fd = openSync(this.#pathOf(piece), 'a')
  }

  #dropOlder(): void {
    this.#part = -1
    fsyncSync(this.#fd)
    const older = this.#pieces.splice(0, this.#pieces.length - 1)
    for (const piece of older) unlinkSync(this.#pathOf(piece))
    this.#bytes = statSync(this.#pathOf(this.#pieces[0])).size
    this.#compactedBytes = this.#bytes
  }

  #syncLater(): void {
    if (!this.#unsynced || this.#fd < 0) return
    this.#unsynced = false
    fdatasync(this.#fd, () => undefined)
  }

  #pathOf(piece: number): string {
    return join(this.#folder, `ring-${String(piece).padStart(8, '0')}.log`)
  }

  /** Two processes with one memory would be two members that are one. */
  #lock(): void {
    const path = join(this.#folder, 'lock')
    let holder = 0
    try {
      holder = Number(readFileSync(path, 'utf8'))
    } catch {
      // Nobody has it.
    }
    if (holder > 0 && holder !== process.pid && isRunning(holder)) {
      throw new Error(`--data-dir ${this.#folder} is in use by process ${holder}`)
    }
    writeFileSync(path, String(process.pid))
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Gives the length up to which everything is whole. */
function readEntries(fd: number, take: (entry: Uint8Array) => void): number {
  let pending = Buffer.alloc(0)
  let [read, whole] = [0, 0]
  for (;;) {
    const chunk = Buffer.allocUnsafeSlow(READ_BYTES)
    const count = readSync(fd, chunk, 0, READ_BYTES, read)
    if (count === 0) return whole
    read += count
    pending = Buffer.concat([pending, chunk.subarray(0, count)])
    let at = 0
    while (pending.length - at >= HEAD_BYTES) {
      const length = pending.readUInt32LE(at)
      if (length > ENTRY_BYTES_MAX) return whole
      const end = at + HEAD_BYTES + length
      if (end > pending.length) break
      const entry = pending.subarray(at + HEAD_BYTES, end)
      if (murmur3(entry, 0, length, CHECK_SEED) !== pending.readInt32LE(at + 4)) return whole
      take(entry)
      whole += HEAD_BYTES + length
      at = end
    }
    pending = pending.subarray(at)
  }
}
