/** What the examples of docs/protocol.md carry: small, and made by the code that makes it in a node where that is to be had. */
import { ByteWriter, latin1Bytes } from '../../src/core/bytes.js'
import { nodeName } from '../../src/core/ids.js'
import type { MemberRecord } from '../../src/core/membership/members.js'
import type { VoterSet } from '../../src/core/membership/voters.js'
import type { RingConfiguration } from '../../src/core/placement/ring-configuration.js'
import { writeNote } from '../../src/node/once-notes.js'
import { encodeRecord } from '../../src/node/ring/records.js'

export const [a, b, c] = [nodeName('a'), nodeName('b'), nodeName('c')]
export const life = 1_760_000_000_000
export const command = (...words: string[]): Uint8Array =>
  latin1Bytes(
    `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`
  )
export const written = (write: (w: ByteWriter) => void): Uint8Array => {
  const w = new ByteWriter()
  write(w)
  return w.copy()
}

export const memberC: MemberRecord = {
  name: c,
  address: '10.0.0.3:13600',
  life,
  version: 1,
  state: 'alive',
  weight: 1,
  zone: 'east'
}
export const voters: VoterSet = {
  version: 3,
  policy: 'majority',
  settled: true,
  strict: false,
  voters: [
    { name: a, life },
    { name: b, life }
  ]
}
export const ring: RingConfiguration = {
  version: 4,
  stage: 'filling',
  copies: 2,
  members: [
    {
      name: a,
      life,
      address: '10.0.0.1:13600',
      url: 'http://10.0.0.1:13680',
      zone: '',
      positions: [-5, 100],
      wanted: [-5, 100],
      hollow: false,
      leaving: false
    }
  ]
}
/** `SET k v`, as a store of buckets and as a record of the ring (where `from` stands for the hash). */
export const item = written((w) => {
  const [key, value] = [latin1Bytes('k'), latin1Bytes('v')]
  encodeRecord({ key, version: 7_208_960_000_001, from: 2, expiry: 0, value }, w)
})
export const write = written((w) => {
  const raw = command('SET', 'k', 'v')
  w.u16(9)
  w.u16(0x00ff)
  w.varint(7)
  w.varint(12)
  w.f64(7_208_960_000_001)
  w.varint(raw.length)
  w.raw(raw)
})
export const forwarded = written((w) => {
  for (const number of [1, 1, 0, 0]) w.varint(number)
  w.raw(command('GET', 'k'))
})
export const answered = written((w) => {
  w.varint(1)
  w.varint(7)
  w.raw(latin1Bytes('$1\r\nv\r\n'))
})
export const note = written((w) => {
  const reply = latin1Bytes('+OK\r\n')
  writeNote(w, { hash: 9, client: 'a.1.5', turn: 2, floor: 1, ms: life, reply })
})
export const offered = [{ key: latin1Bytes('k'), version: 7_208_960_000_001, check: 0x1234_5678 }]
