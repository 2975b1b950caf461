/**
 * What the Redis protocol costs a command: parsing pipelines as they lie in a 64 KB read buffer,
 * writing the replies, and decoding them again as our client does. 20-byte keys, 64-byte values.
 */
import { assert } from '../../src/core/assert.js'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import { ReplyWriter } from '../../src/wire/resp/reply-writer.js'
import { RequestParser } from '../../src/wire/resp/request-parser.js'
import { measure, type Measurement } from './measure.js'

const READ_BYTES = 64 * 1024

const key = (i: number): string => `key:${String(i).padStart(16, '0')}`

interface Pipeline {
  readonly name: string
  readonly command: (i: number) => string[]
}

const pipelines: readonly Pipeline[] = [
  { name: 'GET', command: (i) => ['GET', key(i)] },
  { name: 'SET, 64 bytes', command: (i) => ['SET', key(i), 'v'.repeat(64)] },
  { name: 'SET, 1000 bytes', command: (i) => ['SET', key(i), 'v'.repeat(1000)] },
  { name: 'SET EX', command: (i) => ['SET', key(i), 'v'.repeat(64), 'EX', '3600'] },
  {
    name: 'MGET of 20',
    command: (i) => ['MGET', ...Array.from({ length: 20 }, (_, j) => key(i + j))]
  }
]

export function run({ commands }: { commands: number }): Measurement[] {
  return [
    ...pipelines.map((pipeline) => parseRequests(pipeline, commands)),
    ...writeReplies(commands),
    parseReplies(commands, 'text'),
    parseReplies(commands, 'bytes')
  ]
}

function parseRequests({ name, command }: Pipeline, commands: number): Measurement {
  const writer = new ReplyWriter()
  let count = 0
  for (; count < commands; count++) {
    const before = writer.length
    const words = command(count)
    writer.array(words.length)
    for (const word of words) writer.bulkString(word)
    if (writer.length <= READ_BYTES) continue
    writer.truncate(before)
    break
  }
  const bytes = writer.bytes
  const view = writer.view
  const end = writer.length
  const rounds = Math.ceil(commands / count)
  const parser = new RequestParser()
  return measure(`parse ${name}`, rounds * count, () => {
    let sum = 0
    for (let round = 0; round < rounds; round++) {
      let offset = 0
      while (offset < end) {
        offset = parser.parse(bytes, view, offset, end)
        sum = (sum + parser.offsets[1] + parser.lengths[1]) | 0
      }
      assert(offset === end, 'the pipeline must be parsed to its end')
    }
    return sum
  })
}

function writeReplies(commands: number): Measurement[] {
  const value = new Uint8Array(1024).fill(0x76)
  const view = new DataView(value.buffer)
  const writer = new ReplyWriter()
  const fill = (name: string, write: (i: number) => void): Measurement =>
    measure(`write ${name}`, commands, () => {
      writer.reset()
      for (let i = 0; i < commands; i++) {
        if (writer.length > READ_BYTES - 2048) writer.reset()
        write(i)
      }
      return writer.length
    })
  return [
    fill('OK', () => writer.ok()),
    fill('bulk, 64 bytes', (i) => writer.bulk(value, view, i & 15, 64)),
    fill('bulk, 1000 bytes', (i) => writer.bulk(value, view, i & 15, 1000)),
    fill('nil', () => writer.nil()),
    fill('integer', (i) => writer.integer(i)),
    fill('bulk string', () => writer.bulkString('0123456789abcdef')),
    fill('double', (i) => writer.double(i / 4))
  ]
}

function parseReplies(commands: number, payload: 'text' | 'bytes'): Measurement {
  const value = new Uint8Array(64).fill(0x76)
  const writer = new ReplyWriter()
  let count = 0
  for (; count < commands && writer.length < READ_BYTES - 128; count++) {
    writer.bulk(value, new DataView(value.buffer), 0, value.length)
  }
  const piece = writer.bytes.subarray(0, writer.length)
  const rounds = Math.ceil(commands / count)
  let replies = 0
  const parser = new ReplyParser({ payload, onReply: () => replies++ })
  return measure(`parse reply as ${payload}, 64 bytes`, rounds * count, () => {
    for (let round = 0; round < rounds; round++) parser.push(piece)
    return replies
  })
}
