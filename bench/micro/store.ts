/**
 * What the store costs without a network: GET and SET a second, memory a key by the process and by the
 * store's own account, the longest single operation while the store grows, and what is left in
 * holes after half of the keys are replaced by others of other sizes.
 *
 *   node dist/bench/micro/store.js [keys]
 */
import { pathToFileURL } from 'node:url'
import { Span, viewOf } from '../../src/core/bytes.js'
import { Random } from '../../src/core/random.js'
import type { Bucket } from '../../src/store/bucket.js'
import type { Key } from '../../src/store/key.js'
import { Store } from '../../src/store/store.js'

export interface Result {
  readonly name: string
  readonly value: number
  readonly unit: string
}

const BUCKETS = 256
const KEY_BYTES = 20
const VALUE_BYTES = 64
const GROWTH_ROUNDS = 4
const CACHED_KEYS = 10_000

class Workload {
  readonly store = new Store({ seed: 7 })
  readonly #buckets: Bucket[] = []
  readonly #key: Key = this.store.createKey()
  readonly #keyBytes = new Uint8Array(KEY_BYTES).fill(0x6b)
  readonly #keyView = viewOf(this.#keyBytes)
  readonly #value = Span.of(new Uint8Array(1024).fill(0x76))
  readonly #out = new Uint8Array(1024)
  readonly #outView = viewOf(this.#out)
  #version = 1

  constructor() {
    for (let id = 0; id < BUCKETS; id++) this.#buckets.push(this.store.open(id))
  }

  /** Keys are `kkk…` followed by the number in decimal, as load generators write them. */
  #locate(number: number): Bucket {
    let rest = number
    // Three digits a division: the store is what is measured.
    for (let i = KEY_BYTES - 1; i >= KEY_BYTES - 12; i -= 3) {
      const digits = rest % 1000
      rest = (rest - digits) / 1000
      this.#keyBytes[i] = 48 + (digits % 10)
      this.#keyBytes[i - 1] = 48 + (((digits / 10) | 0) % 10)
      this.#keyBytes[i - 2] = 48 + ((digits / 100) | 0)
    }
    const placement = Math.imul(number, 0x9e3779b1) >>> 18
    this.#key.set(this.#keyBytes, this.#keyView, 0, KEY_BYTES, placement)
    return this.#buckets[placement & (BUCKETS - 1)]
  }

  set(number: number, length: number): void {
    const bucket = this.#locate(number)
    this.#value.length = length
    bucket.setString(this.#key, this.#value, this.#version++, 0)
  }

  /** Copies the value out by 32-bit loads, as a reply would. */
  get(number: number): number {
    const bucket = this.#locate(number)
    const ref = bucket.find(this.#key, 0)
    if (ref === 0) return 0
    const length = bucket.valueLength(ref)
    const view = bucket.valueView(ref)
    const offset = bucket.valueOffset(ref)
    for (let i = 0; i < length; i += 4)
      this.#outView.setInt32(i, view.getInt32(offset + i, true), true)
    return length
  }

  remove(number: number): void {
    const bucket = this.#locate(number)
    const ref = bucket.find(this.#key, 0)
    if (ref !== 0) bucket.remove(ref)
  }
}

export function run(options: { keys: number }): Result[] {
  const { keys } = options
  const results: Result[] = []
  const note = (name: string, value: number, unit: string): void => {
    results.push({ name, value, unit })
  }
  collect()
  const rssBefore = process.memoryUsage().rss
  const load = new Workload()
  const random = new Random(3)

  note(
    'fill',
    throughput(keys, (i) => load.set(i, VALUE_BYTES)),
    'op/s'
  )
  collect()
  note('memory a key by RSS', (process.memoryUsage().rss - rssBefore) / keys, 'B')
  note('memory a key by the store', load.store.memory().bytesPerKey, 'B')
  note('items', load.store.items, '')

  note(
    'GET random',
    throughput(keys, () => load.get(random.below(keys))),
    'op/s'
  )
  note(
    'SET random',
    throughput(keys, () => load.set(random.below(keys), VALUE_BYTES)),
    'op/s'
  )
  note(
    'GET in turn',
    throughput(keys, (i) => load.get(i % keys)),
    'op/s'
  )

  for (let i = 0; i < keys; i += 2) load.remove(i)
  const halved = load.store.memory()
  note('holes after deleting half', (100 * halved.freeBytes) / halved.reservedBytes, '%')
  for (let i = 0; i < keys; i += 2) load.set(keys + i, random.between(16, 200))
  const mixed = load.store.memory()
  note(
    'holes after other sizes',
    (100 * mixed.freeBytes) / (mixed.freeBytes + mixed.usedBytes),
    '%'
  )
  return [...results, ...cached(keys), ...stalls(keys)]
}

/** As many keys as a processor keeps near: what the store itself costs, where the others also show what memory does. */
function cached(operations: number): Result[] {
  const load = new Workload()
  const random = new Random(5)
  for (let i = 0; i < CACHED_KEYS; i++) load.set(i, VALUE_BYTES)
  const measure = (name: string, operate: () => unknown): Result => {
    throughput(operations, operate)
    return { name, value: throughput(operations, operate), unit: 'op/s' }
  }
  return [
    measure(`GET random of ${CACHED_KEYS}`, () => load.get(random.below(CACHED_KEYS))),
    measure(`SET random of ${CACHED_KEYS}`, () => load.set(random.below(CACHED_KEYS), VALUE_BYTES))
  ]
}

function throughput(operations: number, operate: (i: number) => unknown): number {
  const start = performance.now()
  for (let i = 0; i < operations; i++) operate(i)
  return operations / ((performance.now() - start) / 1000)
}

/**
 * The time of every single operation of growing from nothing. What the store does is the same each time,
 * what the machine and the collector do in between is not: of several runs the shortest time of each
 * operation counts.
 */
function stalls(keys: number): Result[] {
  const shortest = new Float32Array(keys).fill(Infinity)
  for (let round = 0; round < GROWTH_ROUNDS; round++) {
    const load = new Workload()
    let before = performance.now()
    for (let i = 0; i < keys; i++) {
      load.set(i, VALUE_BYTES)
      const after = performance.now()
      if (after - before < shortest[i]) shortest[i] = after - before
      before = after
    }
  }
  const sorted = shortest.sort()
  const at = (share: number): number => sorted[Math.min(keys - 1, Math.floor(keys * share))] * 1000
  return [
    { name: 'SET while growing, 99.9 %', value: at(0.999), unit: 'µs' },
    { name: 'SET while growing, longest', value: at(1), unit: 'µs' }
  ]
}

/** Only under `node --expose-gc`. */
function collect(): void {
  const { gc } = globalThis as { gc?: () => void }
  gc?.()
  gc?.()
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, value, unit } of run({ keys: Number(process.argv[2] ?? 1_000_000) })) {
    console.log(`${name.padEnd(34)} ${value.toFixed(value < 1000 ? 1 : 0).padStart(12)} ${unit}`)
  }
}
