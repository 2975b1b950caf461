/**
 * What travels between two nodes: an envelope with the frames of one stream.
 *
 *   u8 protocol  u32 cluster  text from  text address
 *   f64 fromLife  f64 toLife            (when each process began; 0: not known yet)
 *   varint sent                        (frames before the first one in here)
 *   varint total                       (frames the sender has ever put on this stream)
 *   varint acked                       (frames of the other direction it has processed)
 *   then per frame: varint length, bytes, up to the end
 *
 * An acknowledgement counts only for a receiver that has processed `total` frames: whatever the sender
 * said before it acknowledged, a newer row for instance, is then known.
 */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'
import { isNodeName, type NodeName } from '../../core/ids.js'

/** Spoken; older ones are not understood yet, since there are none. */
export const PEER_PROTOCOL = 1

/** One envelope is kept below this, so that a receiver can bound what it gathers. */
export const ENVELOPE_BYTES_MAX = 64 * 1024 * 1024

export interface EnvelopeHead {
  readonly cluster: number
  readonly from: NodeName
  readonly address: string
  readonly fromLife: number
  readonly toLife: number
  readonly sent: number
  readonly total: number
  readonly acked: number
}

export function encodeEnvelopeHead(head: EnvelopeHead, writer: ByteWriter): void {
  writer.u8(PEER_PROTOCOL)
  writer.u32(head.cluster)
  writer.latin1Text(head.from)
  writer.latin1Text(head.address)
  writer.f64(head.fromLife)
  writer.f64(head.toLife)
  writer.varint(head.sent)
  writer.varint(head.total)
  writer.varint(head.acked)
}

/** Reads the head; the frames follow at the reader's offset. */
export function decodeEnvelopeHead(reader: ByteReader): EnvelopeHead {
  const protocol = reader.u8()
  if (protocol !== PEER_PROTOCOL) {
    throw new FormatError(`peer protocol ${protocol} is not understood, only ${PEER_PROTOCOL}`)
  }
  const cluster = reader.u32()
  const from = reader.latin1Text()
  if (!isNodeName(from)) throw new FormatError('an envelope from a node without a proper name')
  const address = readAddress(reader)
  const head = {
    cluster,
    from,
    address,
    fromLife: readLife(reader),
    toLife: reader.f64(),
    sent: reader.varint(),
    total: reader.varint(),
    acked: reader.varint()
  }
  if (!(head.toLife >= 0)) throw new FormatError('not a life')
  return head
}

const ADDRESS_MAX = 300

export function readAddress(reader: ByteReader): string {
  const address = reader.latin1Text()
  if (address.length > ADDRESS_MAX) throw new FormatError('an address is too long')
  return address
}

/** Milliseconds, later than 0 and not so late that no life could follow. */
export function readLife(reader: ByteReader): number {
  const life = reader.f64()
  if (!(life > 0 && life <= Number.MAX_SAFE_INTEGER)) throw new FormatError('not a life')
  return life
}
