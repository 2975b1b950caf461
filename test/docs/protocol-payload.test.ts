// What docs/protocol.md says of the bytes inside messages, held to what a small cluster really sends.
import { expect, test } from 'vitest'
import { ByteReader } from '../../src/core/bytes.js'
import { readNote } from '../../src/node/once-notes.js'
import { decodeEnvelopeHead } from '../../src/wire/peer/envelope.js'
import { decodeMessage, type Message } from '../../src/wire/peer/message.js'
import { MiniCluster } from '../support/mini-cluster.js'

function messagesIn(envelope: Uint8Array): Message[] {
  const r = ByteReader.over(envelope)
  decodeEnvelopeHead(r)
  const messages: Message[] = []
  while (r.remaining > 0) messages.push(decodeMessage(r.copy(r.varint())))
  return messages
}

function text(r: ByteReader, length = r.remaining): string {
  return Buffer.from(r.copy(length)).toString('latin1')
}

function readBatch(payload: Uint8Array): string[] {
  const r = ByteReader.over(payload)
  const entries: string[] = []
  while (r.remaining > 0) {
    const [bucket, first] = [r.u16(), r.u16()]
    const isNote = first === 0xfffe
    const mask = isNote ? r.u16() : first
    expect(bucket).toBeLessThanOrEqual(mask)
    const [epoch, seq] = [r.varint(), r.varint()]
    expect(epoch).toBeGreaterThan(0)
    if (isNote) {
      entries.push(`noted ${Buffer.from(readNote(r).reply).toString()}`)
      continue
    }
    expect(Math.min(seq, r.f64())).toBeGreaterThan(0)
    entries.push(text(r, r.varint()))
  }
  return entries
}

test('writes, commands, replies and items travel as the page says', () => {
  const cluster = new MiniCluster()
  const seen: Message[] = []
  cluster.onPost = (_from, _to, envelope) => seen.push(...messagesIn(envelope)) > 0 || true
  const [a, b] = cluster.startAll('a', 'b')
  cluster.balance()
  const key = cluster.keysOn(b, 1)[0]
  const client = cluster.client(a)
  expect(client.call('SET', key, 'v')).toBe('OK')
  cluster.run(100)
  cluster.start('c')
  cluster.balance()

  const ofKind = <K extends Message['kind']>(kind: K): Extract<Message, { kind: K }>[] =>
    seen.filter((message): message is Extract<Message, { kind: K }> => message.kind === kind)
  const command = `*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$1\r\nv\r\n`

  const writes = ofKind('batch').flatMap(({ payload }) => readBatch(payload))
  expect(writes).toEqual(['noted +OK\r\n', command])

  const [forward] = ofKind('forward')
  const r = ByteReader.over(forward.payload)
  const [number, count] = [r.varint(), r.varint()]
  r.varint()
  for (let i = 0; i < count; i++) r.varint()
  expect([number, count, text(r)]).toEqual([1, 1, command])

  const replies = ByteReader.over(ofKind('answer')[0].payload)
  expect([replies.varint(), text(replies, replies.varint()), replies.remaining]).toEqual([
    1,
    '+OK\r\n',
    0
  ])

  for (const { payload } of ofKind('items')) {
    const items = ByteReader.over(payload)
    while (items.remaining > 0) {
      const end = items.u32() + items.offset
      expect(items.u8()).toBe(1)
      items.skip(8 + 2)
      expect(text(items, items.varint())).toBe(key)
      expect(text(items, end - items.offset)).toBe('v')
    }
  }
})
