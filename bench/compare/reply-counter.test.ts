import { expect, test } from 'vitest'
import { createCounter, type Protocol } from './reply-counter.js'

const STREAMS: readonly [Protocol, string, number, number][] = [
  ['resp', '+OK\r\n:12\r\n$3\r\nabc\r\n$-1\r\n$0\r\n\r\n', 5, 0],
  ['resp', '*2\r\n$1\r\na\r\n*1\r\n:7\r\n*0\r\n*-1\r\n-ERR no 7 way\r\n+PONG\r\n', 5, 1],
  ['memcached', 'STORED\r\nVALUE k 0 5\r\nEND\r\n\r\nEND\r\nEND\r\nERROR\r\n', 4, 1],
  [
    'http',
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n' +
      'HTTP/1.1 404 Not Found\r\ncontent-length: 1\r\n\r\nx',
    3,
    1
  ]
]

test.each(STREAMS)(
  '%s replies are counted, whole and byte by byte',
  (protocol, text, replies, errors) => {
    const bytes = Buffer.from(text)
    for (const size of [1, 2, 3, bytes.length]) {
      const counter = createCounter(protocol)
      let count = 0
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size)
        count += counter.push(piece, piece.length)
      }
      expect({ count, errors: counter.errors }).toEqual({ count: replies, errors })
    }
  }
)

test('the first error is kept', () => {
  const counter = createCounter('resp')
  const bytes = Buffer.from('-MOVED 3 a:1\r\n-ERR other\r\n')
  counter.push(bytes, bytes.length)
  expect(counter.firstError).toBe('MOVED 3 a:1')
})
