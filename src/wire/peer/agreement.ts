/**
 * How nodes agree, as bytes. Many registers travel in one message, since a dead node has hundreds of rows. A register
 * is a bucket's row, or the set of voters. Names are written where they first occur and by their place afterwards.
 *
 *   prepare   version mask count (register round)*           version: of the sender's set of voters
 *   promise   count (register round flags highest ballot? value?)*
 *   propose   version mask count (register round value)*
 *   accepted  count (register round verdict number)*
 *   voters    set          votersSeen  version      votersAsk      resolve  register
 *   taken     mask count (register epoch)*
 *   ballot    round (name life, if the round is not 0)      value  0 epoch primary backups deposes | 1 set
 *   set       version policy flags count (name life)*         flags: 1 settled, 2 strict
 */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import { NO_BALLOT, type Ballot } from '../../core/agreement/ballot.js'
import { isNodeName, type NodeName } from '../../core/ids.js'
import { isMask } from '../../core/mask.js'
import type { Policy, Voter, VoterSet } from '../../core/membership/voters.js'
import { MAX_COPIES, type Row } from '../../core/table.js'
import { readLife } from './envelope.js'
import type { Family } from './family.js'

/** The register of the voters; those below are rows. */
export const VOTERS_REGISTER = 0xffff

const SETTLED = 1
const STRICT = 2

export interface RowValue {
  readonly kind: 'row'
  readonly row: Row
  /** The primary that loses the bucket by this without having agreed; its lease must be over. */
  readonly deposes: NodeName | ''
}

export type RegisterValue = RowValue | { readonly kind: 'voters'; readonly set: VoterSet }

export interface PromiseAnswer {
  readonly register: number
  /** Of the ballot that was asked about. */
  readonly round: number
  readonly ok: boolean
  /** The highest round promised there. */
  readonly highest: number
  readonly accepted: Ballot
  readonly value: RegisterValue | undefined
}

export const VERDICTS = ['ok', 'ballot', 'leased'] as const

export interface AcceptAnswer {
  readonly register: number
  readonly round: number
  readonly verdict: (typeof VERDICTS)[number]
  /** For `ballot` the highest round promised, for `leased` the milliseconds to wait. */
  readonly number: number
}

export interface AcceptAsk {
  readonly register: number
  readonly round: number
  readonly value: RegisterValue
}

export interface TakenRow {
  readonly bucket: number
  /** Of the row that the sender has accepted. */
  readonly epoch: number
}

export type AgreementMessage =
  | {
      readonly kind: 'prepare'
      readonly version: number
      readonly mask: number
      readonly asks: readonly { readonly register: number; readonly round: number }[]
    }
  | { readonly kind: 'promise'; readonly answers: readonly PromiseAnswer[] }
  | {
      readonly kind: 'propose'
      readonly version: number
      readonly mask: number
      readonly asks: readonly AcceptAsk[]
    }
  | { readonly kind: 'accepted'; readonly answers: readonly AcceptAnswer[] }
  /** The voters are these now. */
  | { readonly kind: 'voters'; readonly set: VoterSet }
  /** The sender has accepted a set of this version: what an older one grants or decides counts no more with it. */
  | { readonly kind: 'votersSeen'; readonly version: number }
  | { readonly kind: 'votersAsk' }
  /** Somebody tried to take this bucket from you and came no further: find out what became of it. */
  | { readonly kind: 'resolve'; readonly register: number }
  /** The sender has agreed that these are taken from you, perhaps with too few others: do not serve them before you know. */
  | { readonly kind: 'taken'; readonly mask: number; readonly rows: readonly TakenRow[] }

const POLICIES: readonly Policy[] = ['auto', 'majority', 'available']
const VOTERS_LISTED_MAX = 255

export const AGREEMENT: Family<AgreementMessage> = {
  kinds: [
    'prepare',
    'promise',
    'propose',
    'accepted',
    'voters',
    'votersSeen',
    'votersAsk',
    'resolve',
    'taken'
  ],
  encode: encodeAgreement,
  decode: decodeAgreement
}

function encodeAgreement(message: AgreementMessage, w: ByteWriter): void {
  const names = new NameWriter(w)
  switch (message.kind) {
    case 'prepare':
      writeHead(message, w)
      for (const { register, round } of message.asks) {
        w.u16(register)
        w.varint(round)
      }
      return
    case 'promise':
      w.varint(message.answers.length)
      for (const answer of message.answers) writePromise(answer, w, names)
      return
    case 'propose':
      writeHead(message, w)
      for (const { register, round, value } of message.asks) {
        w.u16(register)
        w.varint(round)
        writeValue(value, w, names)
      }
      return
    case 'accepted':
      w.varint(message.answers.length)
      for (const { register, round, verdict, number } of message.answers) {
        w.u16(register)
        w.varint(round)
        w.u8(VERDICTS.indexOf(verdict))
        w.varint(number)
      }
      return
    case 'voters':
      writeSet(message.set, w, names)
      return
    case 'votersSeen':
      w.varint(message.version)
      return
    case 'votersAsk':
      return
    case 'resolve':
      w.u16(message.register)
      return
    case 'taken':
      w.u16(message.mask)
      w.varint(message.rows.length)
      for (const { bucket, epoch } of message.rows) {
        w.u16(bucket)
        w.varint(epoch)
      }
  }
}

function decodeAgreement(kind: AgreementMessage['kind'], r: ByteReader): AgreementMessage {
  const names = new NameReader(r)
  switch (kind) {
    case 'prepare': {
      const head = readHead(r)
      const asks: { register: number; round: number }[] = []
      for (let count = r.count(3); count > 0; count--) {
        asks.push({ register: readRegister(r, head.mask), round: r.varint() })
      }
      return { kind, ...head, asks }
    }
    case 'promise': {
      const answers: PromiseAnswer[] = []
      for (let count = r.count(5); count > 0; count--) answers.push(readPromise(r, names))
      return { kind, answers }
    }
    case 'propose': {
      const head = readHead(r)
      const asks: AcceptAsk[] = []
      for (let count = r.count(5); count > 0; count--) {
        const [register, round] = [readRegister(r, head.mask), r.varint()]
        asks.push({ register, round, value: readValue(register, r, names) })
      }
      return { kind, ...head, asks }
    }
    case 'accepted': {
      const answers: AcceptAnswer[] = []
      for (let count = r.count(5); count > 0; count--) {
        const [register, round, verdict] = [r.u16(), r.varint(), r.u8()]
        if (verdict >= VERDICTS.length) throw new FormatError(`not a verdict: ${verdict}`)
        answers.push({ register, round, verdict: VERDICTS[verdict], number: r.varint() })
      }
      return { kind, answers }
    }
    case 'voters':
      return { kind, set: readSet(r, names) }
    case 'votersSeen':
      return { kind, version: r.varint() }
    case 'votersAsk':
      return { kind }
    case 'resolve':
      return { kind, register: r.u16() }
    case 'taken': {
      const mask = readMask(r)
      const rows: TakenRow[] = []
      for (let count = r.count(3); count > 0; count--) {
        rows.push({ bucket: readRegister(r, mask), epoch: r.varint() })
      }
      return { kind, mask, rows }
    }
  }
}

function writeHead(
  head: { version: number; mask: number; asks: readonly unknown[] },
  w: ByteWriter
): void {
  w.varint(head.version)
  w.u16(head.mask)
  w.varint(head.asks.length)
}

function readHead(r: ByteReader): { version: number; mask: number } {
  const version = r.varint()
  return { version, mask: readMask(r) }
}

function readMask(r: ByteReader): number {
  const mask = r.u16()
  if (!isMask(mask)) throw new FormatError(`not a mask: ${mask}`)
  return mask
}

function readRegister(r: ByteReader, mask: number): number {
  const register = r.u16()
  if (register > mask && register !== VOTERS_REGISTER) {
    throw new FormatError(`bucket ${register} is beyond mask ${mask}`)
  }
  return register
}

const OK = 1
const HAS_VALUE = 2

function writePromise(answer: PromiseAnswer, w: ByteWriter, names: NameWriter): void {
  const { register, round, ok, highest, accepted, value } = answer
  w.u16(register)
  w.varint(round)
  w.u8((ok ? OK : 0) | (value === undefined ? 0 : HAS_VALUE))
  w.varint(highest)
  if (value === undefined) return
  w.varint(accepted.round)
  if (accepted.round > 0) {
    names.write(accepted.name)
    w.f64(accepted.life)
  }
  writeValue(value, w, names)
}

function readPromise(r: ByteReader, names: NameReader): PromiseAnswer {
  const [register, round, flags, highest] = [r.u16(), r.varint(), r.u8(), r.varint()]
  if (flags > (OK | HAS_VALUE)) throw new FormatError(`not the flags of a promise: ${flags}`)
  const ok = (flags & OK) !== 0
  if ((flags & HAS_VALUE) === 0) {
    return { register, round, ok, highest, accepted: NO_BALLOT, value: undefined }
  }
  const at = r.varint()
  const accepted = at === 0 ? NO_BALLOT : { round: at, name: names.read(), life: readLife(r) }
  return { register, round, ok, highest, accepted, value: readValue(register, r, names) }
}

function writeValue(value: RegisterValue, w: ByteWriter, names: NameWriter): void {
  if (value.kind === 'voters') {
    w.u8(1)
    writeSet(value.set, w, names)
    return
  }
  const { row, deposes } = value
  w.u8(0)
  w.varint(row.epoch)
  names.write(row.primary ?? '')
  w.u8(row.backups.length)
  for (const backup of row.backups) names.write(backup)
  names.write(deposes)
}

function readValue(register: number, r: ByteReader, names: NameReader): RegisterValue {
  const kind = r.u8()
  if (kind !== (register === VOTERS_REGISTER ? 1 : 0)) {
    throw new FormatError('a value of the wrong kind for its register')
  }
  if (kind === 1) return { kind: 'voters', set: readSet(r, names) }
  const epoch = r.varint()
  const primary = names.read()
  const backups: NodeName[] = []
  const count = r.u8()
  if (count >= MAX_COPIES) throw new FormatError('a row with too many backups')
  for (let i = 0; i < count; i++) {
    const backup = names.read()
    if (backup === '') throw new FormatError('a backup without a name')
    backups.push(backup)
  }
  if (new Set([primary, ...backups]).size !== backups.length + 1) {
    throw new FormatError('a row that names a node twice')
  }
  const row = { epoch, primary: primary === '' ? null : primary, backups }
  return { kind: 'row', row, deposes: names.read() }
}

function writeSet(set: VoterSet, w: ByteWriter, names: NameWriter): void {
  w.varint(set.version)
  w.u8(POLICIES.indexOf(set.policy))
  w.u8((set.settled ? SETTLED : 0) | (set.strict ? STRICT : 0))
  w.u8(set.voters.length)
  for (const { name, life } of set.voters) {
    names.write(name)
    w.f64(life)
  }
}

function readSet(r: ByteReader, names: NameReader): VoterSet {
  const [version, policy, flags] = [r.varint(), POLICIES[r.u8()], r.u8()]
  if ((policy as Policy | undefined) === undefined) throw new FormatError('not a policy')
  if (flags > (SETTLED | STRICT)) throw new FormatError(`not flags of voters: ${flags}`)
  const voters: Voter[] = []
  const count = r.u8()
  if (count > VOTERS_LISTED_MAX) throw new FormatError('too many voters')
  for (let i = 0; i < count; i++) {
    const name = names.read()
    if (name === '') throw new FormatError('a voter without a name')
    voters.push({ name, life: readLife(r) })
  }
  const [settled, strict] = [(flags & SETTLED) !== 0, (flags & STRICT) !== 0]
  return { version, policy, settled, strict, voters }
}

/** Each name once in full, then by its place; 0 is no name. */
class NameWriter {
  readonly #w: ByteWriter
  readonly #places = new Map<string, number>()

  constructor(w: ByteWriter) {
    this.#w = w
  }

  write(name: NodeName | ''): void {
    if (name === '') {
      this.#w.varint(0)
      return
    }
    const known = this.#places.get(name)
    if (known !== undefined) {
      this.#w.varint(known)
      return
    }
    const place = this.#places.size + 1
    this.#places.set(name, place)
    this.#w.varint(place)
    this.#w.latin1Text(name)
  }
}

class NameReader {
  readonly #r: ByteReader
  readonly #names: NodeName[] = []

  constructor(r: ByteReader) {
    this.#r = r
  }

  read(): NodeName | '' {
    const place = this.#r.varint()
    if (place === 0) return ''
    if (place <= this.#names.length) return this.#names[place - 1]
    if (place !== this.#names.length + 1) throw new FormatError('a name that is not listed')
    const name = this.#r.latin1Text()
    if (!isNodeName(name)) throw new FormatError('not a node name')
    this.#names.push(name)
    return name
  }
}
