/** What each kind of message of the ring may carry, for the tests of the codec. */
import fc from 'fast-check'
import { nodeName } from '../../src/core/ids.js'
import {
  RING_STAGES,
  type RingConfiguration,
  type RingMemberRecord
} from '../../src/core/placement/ring-configuration.js'
import { RING_STATUSES, SLICES, type RingMessage } from '../../src/wire/peer/ring.js'

const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,5}$/).map((text) => nodeName(text))
const count = fc.maxSafeNat()
const flag = fc.boolean()
const life = fc.double({ min: 1, max: 2 ** 52, noNaN: true })
const number = fc.double({ min: 0, max: 2 ** 52, noNaN: true })
const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const payload = fc.uint8Array({ maxLength: 24 })
const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const slice = fc.integer({ min: 0, max: SLICES - 1 })
const status = fc.constantFrom(...RING_STATUSES)
const positions = fc.array(fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }), { maxLength: 4 })
const place = { version: count, slice: fc.integer({ min: 0, max: SLICES }), position: count }

const member: fc.Arbitrary<RingMemberRecord> = fc.record({
  name,
  life,
  address: fc.constantFrom('', 'a:1', '127.0.0.1:13600'),
  url: text,
  zone: text,
  positions,
  wanted: positions,
  hollow: flag,
  leaving: flag
})

const configuration: fc.Arbitrary<RingConfiguration> = fc.record({
  version: count,
  stage: fc.constantFrom(...RING_STAGES),
  copies: fc.integer({ min: 1, max: 255 }),
  members: fc
    .uniqueArray(member, { maxLength: 4, selector: (it) => it.name })
    .map((members) => members.sort((a, b) => (a.name < b.name ? -1 : 1)))
})

const ballot = fc.record({ round: count, name, life })
const entries = fc.array(fc.record({ key: payload, version: number, check: u32 }), { maxLength: 4 })

export const RING_FIELDS: {
  [K in RingMessage['kind']]: fc.Arbitrary<Omit<Extract<RingMessage, { kind: K }>, 'kind'>>
} = {
  ringBeat: fc.record({ version: count, filled: flag, drained: flag, records: count }),
  ringWish: fc.record({ member }),
  ringConfig: fc.record({ cluster: u32, configuration }),
  ringPrepare: fc.record({ version: count, round: count }),
  ringPromise: fc.record({
    version: count,
    round: count,
    ok: flag,
    highest: count,
    accepted: fc.option(fc.record({ ballot, configuration }), { nil: undefined })
  }),
  ringPropose: fc.record({ version: count, round: count, configuration }),
  ringAccepted: fc.record({ version: count, round: count, ok: flag, highest: count }),
  ringRead: fc.record({ id: count, version: count, payload }),
  ringValue: fc.record({ id: count, status, payload }),
  ringWrite: fc.record({ id: count, version: count, payload }),
  ringWritten: fc.record({ id: count, status, number }),
  ringItems: fc.record({ payload }),
  ringPull: fc.record({ ...place, whole: flag }),
  ringPulled: fc.record({ ...place, whole: flag, done: flag, payload }),
  ringFetch: fc.record({ keys: fc.array(payload, { maxLength: 4 }) }),
  ringDigests: fc.record({
    version: count,
    first: slice,
    last: slice,
    digests: fc.array(fc.record({ slice, first: u32, second: u32 }), { maxLength: 4 })
  }),
  ringDiffer: fc.record({ version: count, slices: fc.array(slice, { maxLength: 4 }) }),
  ringOffer: fc.record({ id: count, version: count, entries }),
  ringLacks: fc.record({ id: count, lacks: fc.array(count, { maxLength: 4 }) }),
  ringScan: fc.record({ id: count, start: payload, inclusive: flag, end: payload, limit: count }),
  ringScanned: fc.record({ id: count, done: flag, payload }),
  ringHello: fc.record({ memory: life }),
  ringHinted: fc.record({})
}
