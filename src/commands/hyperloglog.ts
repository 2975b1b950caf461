/**
 * HyperLogLog: how many different elements were added, within a percent or so, in 12 KB at most. It is a string in the
 * form that Redis gives it, so that either can be given the other's:
 *
 *   HYLL · encoding (0 dense, 1 sparse) · 3 bytes 0 · 8 bytes cardinality, little endian, top bit set while unknown
 *   dense: 16384 registers of 6 bits, each lower bits first
 *   sparse: 00xxxxxx x+1 zeros · 01xxxxxx yyyyyyyy xy+1 zeros · 1vvvvvxx x+1 registers of v+1
 *
 * A sparse one becomes dense when a register does not fit or it gets too long. The registers are worked on in the
 * open, one byte each, and packed again: sixteen thousand steps for what is seldom done one by one.
 */

export const REGISTERS = 16384
const INDEX_BITS = 14n
const VALUE_BITS = 50
const HEADER_BYTES = 16
const DENSE_BYTES = HEADER_BYTES + (REGISTERS * 6) / 8
const SPARSE_BYTES_MAX = 3000
const SPARSE_VALUE_MAX = 32
const CARDINALITY_AT = 8
const DENSE = 0
const SPARSE = 1
const MAGIC = [0x48, 0x59, 0x4c, 0x4c]
const UNKNOWN = 0x80
const ALPHA = 0.7213475204444817

const FACTOR = 0xc6a4a7935bd1e995n
const SEED = 0xadc83b19n

function mask(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}

/** The 64-bit MurmurHash2 that Redis uses. */
function hash(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length & ~7
  let h = mask(SEED ^ mask(BigInt(bytes.length) * FACTOR))
  for (let at = 0; at < whole; at += 8) {
    let k = mask(view.getBigUint64(at, true) * FACTOR)
    k ^= k >> 47n
    h = mask((h ^ mask(k * FACTOR)) * FACTOR)
  }
  if (whole < bytes.length) {
    for (let at = bytes.length - 1; at >= whole; at--) {
      h ^= BigInt(bytes[at]) << BigInt(8 * (at - whole))
    }
    h = mask(h * FACTOR)
  }
  h ^= h >> 47n
  h = mask(h * FACTOR)
  return h ^ (h >> 47n)
}

/** Raises the register of an element; true if that changed it. */
export function addElement(registers: Uint8Array, element: Uint8Array): boolean {
  const hashed = hash(element)
  const index = Number(hashed & BigInt(REGISTERS - 1))
  const rest = hashed >> INDEX_BITS
  // One more than the zeros at its end; all bits zero count as if there were one behind them.
  const low = Number(BigInt.asUintN(32, rest))
  const high = Number(rest >> 32n)
  const zeros = low !== 0 ? trailingZeros(low) : high !== 0 ? 32 + trailingZeros(high) : VALUE_BITS
  const value = Math.min(zeros, VALUE_BITS) + 1
  if (registers[index] >= value) return false
  registers[index] = value
  return true
}

function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word)
}

export function isHyperLogLog(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES || MAGIC.some((byte, at) => bytes[at] !== byte)) return false
  if (bytes[4] === SPARSE) return true
  return bytes[4] === DENSE && bytes.length === DENSE_BYTES
}

export function isDense(bytes: Uint8Array): boolean {
  return bytes[4] === DENSE
}

/** The registers, one byte each; undefined if it is corrupt. */
export function unpack(bytes: Uint8Array): Uint8Array | undefined {
  const registers = new Uint8Array(REGISTERS)
  if (!isDense(bytes)) return unpackSparse(bytes, registers) ? registers : undefined
  for (let i = 0, at = HEADER_BYTES; i < REGISTERS; i += 4, at += 3) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16)
    registers[i] = word & 63
    registers[i + 1] = (word >> 6) & 63
    registers[i + 2] = (word >> 12) & 63
    registers[i + 3] = word >> 18
  }
  return registers
}

function unpackSparse(bytes: Uint8Array, registers: Uint8Array): boolean {
  let index = 0
  for (let at = HEADER_BYTES; at < bytes.length; at++) {
    const code = bytes[at]
    if (code >= 0x80) {
      const count = (code & 3) + 1
      if (index + count > REGISTERS) return false
      registers.fill(((code >> 2) & 31) + 1, index, index + count)
      index += count
    } else if (code >= 0x40) {
      if (at + 1 >= bytes.length) return false
      index += (((code & 63) << 8) | bytes[++at]) + 1
    } else index += code + 1
    if (index > REGISTERS) return false
  }
  return index === REGISTERS
}

/** As bytes again, its cardinality unknown. */
export function pack(registers: Uint8Array, dense: boolean): Uint8Array {
  const sparse = dense ? undefined : packSparse(registers)
  const bytes = new Uint8Array(sparse === undefined ? DENSE_BYTES : HEADER_BYTES + sparse.length)
  bytes.set(MAGIC)
  bytes[4] = sparse === undefined ? DENSE : SPARSE
  bytes[CARDINALITY_AT + 7] = UNKNOWN
  if (sparse !== undefined) {
    bytes.set(sparse, HEADER_BYTES)
    return bytes
  }
  for (let i = 0, at = HEADER_BYTES; i < REGISTERS; i += 4, at += 3) {
    const word =
      registers[i] | (registers[i + 1] << 6) | (registers[i + 2] << 12) | (registers[i + 3] << 18)
    bytes[at] = word & 255
    bytes[at + 1] = (word >> 8) & 255
    bytes[at + 2] = word >> 16
  }
  return bytes
}

/** Undefined where it does not fit. */
function packSparse(registers: Uint8Array): number[] | undefined {
  const codes: number[] = []
  for (let index = 0; index < REGISTERS;) {
    const value = registers[index]
    if (value > SPARSE_VALUE_MAX) return undefined
    const most = value === 0 ? REGISTERS : index + 4
    let end = index + 1
    while (end < most && end < REGISTERS && registers[end] === value) end++
    const more = end - index - 1
    if (value > 0) codes.push(0x80 | ((value - 1) << 2) | more)
    else if (more < 64) codes.push(more)
    else codes.push(0x40 | (more >> 8), more & 255)
    if (HEADER_BYTES + codes.length > SPARSE_BYTES_MAX) return undefined
    index = end
  }
  return codes
}

/** The cardinality that is remembered in it, which may be anything a client wrote; undefined while it is unknown. */
export function knownCardinality(bytes: Uint8Array): bigint | undefined {
  if (bytes[CARDINALITY_AT + 7] & UNKNOWN) return undefined
  let cardinality = 0n
  for (let i = 7; i >= 0; i--) cardinality = cardinality * 256n + BigInt(bytes[CARDINALITY_AT + i])
  return cardinality
}

/** What is to be written at the place of the cardinality. */
export function cardinalityBytes(cardinality: bigint): { at: number; bytes: Uint8Array } {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, cardinality, true)
  return { at: CARDINALITY_AT, bytes }
}

/** The estimate as a 64-bit integer: of registers that nobody counted with it may be beyond any. */
export function count(registers: Uint8Array): bigint {
  const estimated = estimate(registers)
  return estimated < 2 ** 63 ? BigInt(estimated) : -(2n ** 63n)
}

/** Otmar Ertl's estimate from how often each value occurs in the registers. */
export function estimate(registers: Uint8Array): number {
  const histogram = new Float64Array(64)
  for (const value of registers) histogram[value]++
  const m = REGISTERS
  let z = m * tau((m - histogram[VALUE_BITS + 1]) / m)
  for (let value = VALUE_BITS; value >= 1; value--) z = (z + histogram[value]) * 0.5
  z += m * sigma(histogram[0] / m)
  return Math.round((ALPHA * m * m) / z)
}

function sigma(x: number): number {
  if (x === 1) return Infinity
  let y = 1
  let z = x
  for (let before = -1; before !== z;) {
    x *= x
    before = z
    z += x * y
    y += y
  }
  return z
}

function tau(x: number): number {
  if (x === 0 || x === 1) return 0
  let y = 1
  let z = 1 - x
  for (let before = -1; before !== z;) {
    x = Math.sqrt(x)
    before = z
    y *= 0.5
    z -= (1 - x) ** 2 * y
  }
  return z / 3
}
