import fc from 'fast-check'
import { VOTERS_REGISTER, type PromiseAnswer, type RegisterValue } from './agreement.js'
import { describe, expect, it, test } from 'vitest'
import { RING_FIELDS } from '../../../test/support/ring-fields.js'
import { ByteWriter, FormatError } from '../../core/bytes.js'
import { nodeName, type NodeName } from '../../core/ids.js'
import { MASKS } from '../../core/mask.js'
import type { MemberRecord } from '../../core/membership/members.js'
import { NO_BALLOT } from '../../core/agreement/ballot.js'
import type { VoterSet } from '../../core/membership/voters.js'
import { MAX_COPIES } from '../../core/table.js'
import {
  decodeMessage,
  encodeMessage,
  MESSAGE_KINDS,
  type Message,
  type MessageKind
} from './message.js'
import type { BucketRow } from './knowledge.js'

const LETTERS = Array.from('abcxyzABC019')
const name = fc
  .tuple(
    fc.constantFrom(...LETTERS),
    fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 5 })
  )
  .map(([first, rest]) => nodeName(`${first}${rest}`))
const mask = fc.constantFrom(...MASKS)
const count = fc.maxSafeNat()
const flag = fc.boolean()
const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const latin1 = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 8 })
  .map((codes) => String.fromCharCode(...codes))
const payload = fc.uint8Array({ maxLength: 24 })
const time = fc.double({ min: 0, max: 2 ** 52, noNaN: true })
const member: fc.Arbitrary<MemberRecord> = fc.record({
  name,
  address: latin1,
  life: fc.double({ min: 1, max: 2 ** 52, noNaN: true }),
  version: count,
  state: fc.constantFrom('alive', 'leaving', 'left'),
  weight: fc.double({ min: 0, max: 1e6, noNaN: true }),
  zone: text
})
const members = fc.array(member, { maxLength: 3 })
const inMask = mask.chain((of) =>
  fc.record({ mask: fc.constant(of), bucket: fc.integer({ min: 0, max: of }) })
)
const rows = mask.chain((of) =>
  fc.record({
    mask: fc.constant(of),
    rows: fc.array(
      fc
        .record({
          bucket: fc.integer({ min: 0, max: of }),
          epoch: count,
          holders: fc.uniqueArray(name, { maxLength: MAX_COPIES })
        })
        .map(({ bucket, epoch, holders }): BucketRow => {
          return { bucket, row: { epoch, primary: holders[0] ?? null, backups: holders.slice(1) } }
        }),
      { maxLength: 6 }
    )
  })
)
const event = {
  seq: count,
  change: fc.constantFrom('set', 'deleted', 'expired', 'evicted'),
  key: latin1,
  names: latin1
} as const
const u8 = fc.integer({ min: 0, max: 0xff })
const u16 = fc.integer({ min: 0, max: 0xffff })
const u32 = fc.integer({ min: 0, max: 0xffff_ffff })

const life = fc.double({ min: 1, max: 2 ** 52, noNaN: true })
const voterSet: fc.Arbitrary<VoterSet> = fc.record({
  version: count,
  policy: fc.constantFrom('auto', 'majority', 'available'),
  settled: flag,
  strict: flag,
  voters: fc.array(fc.record({ name, life }), { maxLength: 5 })
})

function registerIn(of: number): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: 0, max: of }), fc.constant(VOTERS_REGISTER))
}

function valueOf(register: number): fc.Arbitrary<RegisterValue> {
  if (register === VOTERS_REGISTER) {
    return voterSet.map((set): RegisterValue => ({ kind: 'voters', set }))
  }
  const names = fc.uniqueArray(name, { minLength: 1, maxLength: MAX_COPIES })
  return fc
    .record({ epoch: count, names, deposes: fc.oneof(name, fc.constant('' as const)) })
    .map(({ epoch, names: [primary, ...backups], deposes }) => {
      return { kind: 'row', row: { epoch, primary, backups }, deposes }
    })
}

function promiseOf(register: number): fc.Arbitrary<PromiseAnswer> {
  const ballot = fc.oneof(
    fc.constant(NO_BALLOT),
    fc.record({ round: fc.integer({ min: 1, max: 2 ** 40 }), name, life })
  )
  return fc
    .record({
      round: count,
      ok: flag,
      highest: count,
      accepted: ballot,
      value: fc.option(valueOf(register), { nil: undefined })
    })
    .map((answer) => {
      const accepted = answer.value === undefined ? NO_BALLOT : answer.accepted
      return { register, ...answer, accepted }
    })
}

/** What a message of each kind may carry: a kind that is missing here does not compile. */
const FIELDS: {
  [K in MessageKind]: fc.Arbitrary<Omit<Extract<Message, { kind: K }>, 'kind'>>
} = {
  beat: fc.record({ mask, digest: u32, voters: count, ms: time }),
  members: fc.record({ members }),
  join: fc.record({ hash: latin1, member }),
  welcome: fc.record({ cluster: u32, copies: u8, hash: latin1, members }),
  rows,
  tableAsk: fc.record({
    mask: fc.constant(15),
    digest: u32,
    epochs: fc.array(count, { minLength: 16, maxLength: 16 })
  }),
  nothing: fc.constant({}),
  levelAsk: fc.constant({}),
  level: fc.record({ primaries: count, backups: count, transferring: flag }),
  offer: inMask.chain((place) =>
    fc.record({
      mask: fc.constant(place.mask),
      bucket: fc.constant(place.bucket),
      move: count,
      epoch: count,
      role: fc.constantFrom('primary', 'backup'),
      beyondShare: flag,
      items: count,
      reason: text
    })
  ),
  accept: fc.record({ move: count }),
  busy: fc.record({ move: count, reason: text }),
  items: fc.record({ move: count, payload }),
  caughtUp: fc.record({ move: count, seq: count, parted: time }),
  cancel: fc.record({ move: count, reason: text }),
  ship: inMask.chain((place) =>
    fc.record({
      mask: fc.constant(place.mask),
      bucket: fc.constant(place.bucket),
      epoch: count,
      to: name,
      beyondShare: flag,
      reason: text
    })
  ),
  shipEnd: fc.record({ bucket: u16, done: flag, reason: text }),
  batch: fc.record({ payload }),
  promoted: fc.record({ bucket: u16, epoch: count, seq: count }),
  behind: fc.record({ bucket: u16, epoch: count }),
  sync: fc.record({
    buckets: fc.array(
      fc.record({
        bucket: u16,
        epoch: count,
        seq: count,
        pending: count,
        seenVersion: time,
        parted: time,
        untold: count,
        missed: fc.boolean()
      }),
      { maxLength: 4 }
    )
  }),
  forward: fc.record({
    id: count,
    hops: u8,
    acksAll: flag,
    protocol: fc.constantFrom(2, 3),
    client: latin1,
    untilMs: time,
    payload
  }),
  answer: fc.record({ id: count, payload }),
  watches: fc.record({
    node: name,
    life: fc.double({ min: 1, max: 2 ** 52, noNaN: true }),
    version: count,
    watches: fc.array(fc.record({ client: text, pattern: latin1 }), { maxLength: 4 })
  }),
  event: fc.record({ mask, ...event }),
  gap: fc.constant({}),
  untold: inMask.chain((place) =>
    fc.record({
      mask: fc.constant(place.mask),
      bucket: fc.constant(place.bucket),
      first: flag,
      lostUpTo: count,
      events: fc.array(fc.record(event), { maxLength: 4 })
    })
  ),
  merge: fc.record({ bucket: u16, mask, last: flag, payload }),
  merged: fc.record({ bucket: u16, mask, done: flag }),
  refused: fc.record({ reason: text }),
  prepare: mask.chain((of) =>
    fc.record({
      version: count,
      mask: fc.constant(of),
      asks: fc.array(fc.record({ register: registerIn(of), round: count }), { maxLength: 4 })
    })
  ),
  promise: fc.record({ answers: fc.array(u16.chain(promiseOf), { maxLength: 4 }) }),
  propose: mask.chain((of) =>
    fc.record({
      version: count,
      mask: fc.constant(of),
      asks: fc.array(
        registerIn(of).chain((register) =>
          fc.record({ register: fc.constant(register), round: count, value: valueOf(register) })
        ),
        { maxLength: 4 }
      )
    })
  ),
  accepted: fc.record({
    answers: fc.array(
      fc.record({
        register: u16,
        round: count,
        verdict: fc.constantFrom('ok', 'ballot', 'leased'),
        number: count
      }),
      { maxLength: 4 }
    )
  }),
  voters: fc.record({ set: voterSet }),
  votersSeen: fc.record({ version: count }),
  votersAsk: fc.constant({}),
  resolve: fc.record({ register: u16 }),
  taken: inMask.chain(({ mask, bucket }) =>
    fc.record({
      mask: fc.constant(mask),
      rows: fc.array(fc.record({ bucket: fc.constant(bucket), epoch: count }), { maxLength: 4 })
    })
  ),
  ask: fc.record({ id: count, payload }),
  told: fc.record({ id: count, payload }),
  setting: fc.record({ version: time, name: latin1, value: latin1 }),
  keyEvent: fc.record({ key: latin1, names: latin1 }),
  notes: inMask.chain((place) =>
    fc.record({ mask: fc.constant(place.mask), bucket: fc.constant(place.bucket), payload })
  ),
  unblock: fc.record({ lane: count, how: fc.constantFrom('timeout', 'error', 'gone') }),
  await: fc.record({ id: count, keys: fc.array(latin1, { maxLength: 4 }) }),
  ready: fc.record({ id: count, key: latin1 }),
  invalidate: fc.record({ key: latin1, by: latin1 }),
  ...RING_FIELDS
}

function messageOf(kind: MessageKind): fc.Arbitrary<Message> {
  const fields: fc.Arbitrary<object> = FIELDS[kind]
  return fields.map((known) => ({ kind, ...known }) as Message)
}

function encode(message: Message): Uint8Array {
  const writer = new ByteWriter()
  encodeMessage(message, writer)
  return writer.copy()
}

/** Decodes; a `FormatError` is as good as a message, anything else is not. */
function tryDecode(bytes: Uint8Array): Message | undefined {
  try {
    return decodeMessage(bytes)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

/** A message that was decoded can be sent on, and stays the same then. */
function expectSound(message: Message): void {
  const bytes = encode(message)
  // Compared as a whole: this is done a hundred thousand times.
  expect(Buffer.compare(bytes, encode(decodeMessage(bytes)))).toBe(0)
}

const SOME = { seed: 20, numRuns: 2 }

test('there is an arbitrary for every kind', () => {
  expect(Object.keys(FIELDS).sort()).toEqual([...MESSAGE_KINDS].sort())
})

describe.each(MESSAGE_KINDS)('%s', (kind) => {
  it('is the same after encoding and decoding', () => {
    fc.assert(
      fc.property(messageOf(kind), (message) => {
        expect(decodeMessage(encode(message))).toEqual(message)
      }),
      { seed: 1, numRuns: 100 }
    )
  })

  it('is a message or a FormatError when it is cut anywhere', () => {
    for (const message of fc.sample(messageOf(kind), SOME)) {
      const bytes = encode(message)
      for (let length = 0; length < bytes.length; length++) {
        const cut = tryDecode(bytes.slice(0, length))
        if (cut !== undefined) expectSound(cut)
      }
    }
  })

  it('is a message or a FormatError when any byte has any other value', () => {
    for (const message of fc.sample(messageOf(kind), SOME)) {
      const bytes = encode(message)
      for (let at = 0; at < bytes.length; at++) {
        const right = bytes[at]
        for (let wrong = 1; wrong < 256; wrong++) {
          bytes[at] = right ^ wrong
          const other = tryDecode(bytes)
          if (other !== undefined && wrong % 37 === 0) expectSound(other)
        }
        bytes[at] = right
      }
    }
  })

  it('has not a byte too many', () => {
    const message = fc.sample(messageOf(kind), { seed: 3, numRuns: 1 })[0]
    const bytes = new Uint8Array([...encode(message), 7])
    // What ends with a payload takes the byte for a part of it.
    const open = 'payload' in message
    if (open) expect(decodeMessage(bytes).kind).toBe(kind)
    else expect(() => decodeMessage(bytes)).toThrow(`1 bytes too many in a ${kind} message`)
  })

  it('decodes random bytes to a message or a FormatError', () => {
    const byte = MESSAGE_KINDS.indexOf(kind)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const message = tryDecode(new Uint8Array([byte, ...bytes]))
        if (message !== undefined) expectSound(message)
      }),
      { seed: 2, numRuns: 150 }
    )
  })
})

describe('refusals', () => {
  function bytesOf(kind: MessageKind, write: (w: ByteWriter) => void): Uint8Array {
    const writer = new ByteWriter()
    writer.u8(MESSAGE_KINDS.indexOf(kind))
    write(writer)
    return writer.copy()
  }

  it('names an unknown kind', () => {
    expect(() => decodeMessage(new Uint8Array([MESSAGE_KINDS.length]))).toThrow(
      new FormatError(`unknown message kind ${MESSAGE_KINDS.length}`)
    )
    expect(() => decodeMessage(new Uint8Array([255, 1, 2]))).toThrow('unknown message kind 255')
    expect(() => decodeMessage(new Uint8Array(0))).toThrow(FormatError)
  })

  it.each([
    ['rows', (w: ByteWriter) => w.u16(0xff)],
    ['members', () => undefined],
    ['sync', () => undefined],
    [
      'watches',
      (w: ByteWriter) => {
        w.latin1Text('a')
        w.f64(1)
        w.varint(1)
      }
    ]
  ] as const)('does not believe an announced count of 2^50 in %s', (kind, write) => {
    const bytes = bytesOf(kind, (w) => {
      write(w)
      w.varint(2 ** 50)
      w.raw(new Uint8Array(64))
    })
    expect(() => decodeMessage(bytes)).toThrow(/1125899906842624 elements announced/)
  })

  it('does not believe an announced count of 2^50 rows behind the names', () => {
    const bytes = bytesOf('rows', (w) => {
      w.u16(0xff)
      w.varint(0)
      w.varint(2 ** 50)
      w.raw(new Uint8Array(64))
    })
    expect(() => decodeMessage(bytes)).toThrow(/elements announced/)
  })

  it('does not believe an announced text of 2^50 letters', () => {
    const bytes = bytesOf('busy', (w) => {
      w.varint(1)
      w.varint(2 ** 50)
    })
    expect(() => decodeMessage(bytes)).toThrow(/bytes wanted/)
  })

  it('refuses a mask that is none, and a bucket beyond it', () => {
    expect(() =>
      decodeMessage(encode({ kind: 'beat', mask: 0x7f, digest: 0, voters: 1, ms: 0 }))
    ).toThrow('not a mask: 127')
    const row = { epoch: 1, primary: nodeName('a'), backups: [] }
    const rows = [{ bucket: 16, row }]
    expect(() => decodeMessage(encode({ kind: 'rows', mask: 0xf, rows }))).toThrow(
      'bucket 16 is beyond mask 15'
    )
  })

  function rowMessage(primary: NodeName | null, backups: NodeName[]): Uint8Array {
    return encode({
      kind: 'rows',
      mask: 0xf,
      rows: [{ bucket: 0, row: { epoch: 1, primary, backups } }]
    })
  }

  it('refuses rows that no table can hold', () => {
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(nodeName)
    expect(() => decodeMessage(rowMessage(a, [a]))).toThrow('two copies on one node')
    expect(() => decodeMessage(rowMessage(a, [b, b]))).toThrow('two copies on one node')
    expect(() => decodeMessage(rowMessage(a, [b, c, d, e]))).toThrow('too many backups')
  })

  it('refuses a row with backups and no primary', () => {
    expect(() => decodeMessage(rowMessage(null, [nodeName('b')]))).toThrow(FormatError)
  })

  const record: MemberRecord = {
    name: nodeName('a'),
    address: 'a:1',
    life: 1,
    version: 1,
    state: 'alive',
    weight: 1,
    zone: ''
  }

  it.each([NaN, Infinity, -1, 0])('refuses a member whose life is %s', (life) => {
    const bytes = encode({ kind: 'join', hash: 'redis', member: { ...record, life } })
    expect(() => decodeMessage(bytes)).toThrow(FormatError)
  })

  it.each([NaN, -1, 1e7])('refuses a member whose weight is %s', (weight) => {
    const bytes = encode({ kind: 'join', hash: 'redis', member: { ...record, weight } })
    expect(() => decodeMessage(bytes)).toThrow('not a weight')
  })

  it('refuses a member whose address is longer than an envelope would take', () => {
    const bytes = encode({
      kind: 'join',
      hash: 'redis',
      member: { ...record, address: 'x'.repeat(301) }
    })
    expect(() => decodeMessage(bytes)).toThrow(FormatError)
  })

  it.each([NaN, Infinity])('refuses a sync mark that has seen version %s', (seenVersion) => {
    const mark = {
      bucket: 1,
      epoch: 1,
      seq: 1,
      pending: 0,
      seenVersion,
      parted: 0,
      untold: 0,
      missed: false
    }
    const bytes = encode({ kind: 'sync', buckets: [mark] })
    expect(() => decodeMessage(bytes)).toThrow(FormatError)
  })
})
