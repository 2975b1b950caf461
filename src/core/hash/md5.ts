/**
 * MD5 (RFC 1321) in plain TypeScript, since deciding code may not import node:crypto. It serves only
 * `--hash md5`, which places keys as the documents' examples do; nothing here is about security.
 * The documents' digests are those of the key and a newline (`echo key | md5sum`), so a byte can be
 * appended to what is hashed without copying the key. The 64 steps run over tables: about 0.3 µs a
 * short key, which is why the default placement hash is another one.
 */
const SHIFTS = Uint8Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21)

/** Appended to nothing: hash the bytes as they are. */
const NO_SUFFIX = -1

// Only the first 32 of the sines' 53 bits are used, so the last place, on which engines may
// disagree, does not matter.
const CONSTANTS = Int32Array.from({ length: 64 }, (_, i) =>
  Math.floor(Math.abs(Math.sin(i + 1)) * 0x1_0000_0000)
)

// One hash at a time runs in a process, so the working memory is shared.
const words = new Int32Array(16)
const state = new Int32Array(4)

function digest(bytes: Uint8Array, offset: number, length: number, suffix: number): void {
  state[0] = 0x67452301
  state[1] = 0xefcdab89
  state[2] = 0x98badcfe
  state[3] = 0x10325476
  const total = suffix === NO_SUFFIX ? length : length + 1
  let done = 0
  for (; done + 64 <= length; done += 64) {
    for (let i = 0, p = offset + done; i < 16; i++, p += 4) {
      words[i] = bytes[p] | (bytes[p + 1] << 8) | (bytes[p + 2] << 16) | (bytes[p + 3] << 24)
    }
    mix()
  }
  words.fill(0)
  let at = 0
  for (let p = offset + done; p < offset + length; p++, at++) put(at, bytes[p])
  if (suffix !== NO_SUFFIX) {
    put(at++, suffix)
    at = mixFull(at)
  }
  put(at++, 0x80)
  at = mixFull(at)
  if (at > 56) {
    mix()
    words.fill(0)
  }
  words[14] = total << 3
  words[15] = Math.floor(total / 0x2000_0000)
  mix()
}

function put(at: number, byte: number): void {
  words[at >> 2] |= byte << ((at & 3) << 3)
}

function mixFull(at: number): number {
  if (at < 64) return at
  mix()
  words.fill(0)
  return 0
}

function mix(): void {
  let a = state[0]
  let b = state[1]
  let c = state[2]
  let d = state[3]
  for (let i = 0; i < 64; i++) {
    let f: number
    let word: number
    if (i < 16) {
      f = (b & c) | (~b & d)
      word = i
    } else if (i < 32) {
      f = (d & b) | (~d & c)
      word = (5 * i + 1) & 15
    } else if (i < 48) {
      f = b ^ c ^ d
      word = (3 * i + 5) & 15
    } else {
      f = c ^ (b | ~d)
      word = (7 * i) & 15
    }
    const shift = SHIFTS[((i >> 4) << 2) | (i & 3)]
    const sum = (f + a + CONSTANTS[i] + words[word]) | 0
    a = d
    d = c
    c = b
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0
  }
  state[0] += a
  state[1] += b
  state[2] += c
  state[3] += d
}

/** The last four hexadecimal digits of the digest, as a number. `suffix` is one byte more to hash. */
export function md5Low16(
  bytes: Uint8Array,
  offset: number,
  length: number,
  suffix: number = NO_SUFFIX
): number {
  digest(bytes, offset, length, suffix)
  const last = state[3]
  return ((last >>> 8) & 0xff00) | (last >>> 24)
}

/** The whole digest, as md5sum prints it. */
export function md5Hex(
  bytes: Uint8Array,
  offset: number,
  length: number,
  suffix: number = NO_SUFFIX
): string {
  digest(bytes, offset, length, suffix)
  let text = ''
  for (let i = 0; i < 16; i++) {
    text += ((state[i >> 2] >>> ((i & 3) << 3)) & 0xff).toString(16).padStart(2, '0')
  }
  return text
}
