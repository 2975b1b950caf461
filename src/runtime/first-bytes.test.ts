import { expect, test } from 'vitest'
import { recognise, type Caller } from './first-bytes.js'

const callerOf = (text: string): Caller => recognise(Buffer.from(text, 'latin1'))

test.each<[string, Caller]>([
  ['*1\r\n$4\r\nPING\r\n', 'client'],
  ['*2\r\n$3\r\nGET\r\n$1\r\na\r\n', 'client'],
  ['*2\r\n$7\r\nOC.ACKS\r\n$3\r\nall\r\n', 'client'],
  ['*1\r\n$9\r\nOC.STATUS\r\n', 'admin'],
  ['*1\r\n$9\r\noc.status\r\n', 'admin'],
  ['*4\r\n$7\r\nOC.LINK\r\n$1\r\n1\r\n', 'admin'],
  ['OC.STATUS\r\n', 'admin'],
  ['oc.leave\n', 'admin'],
  ['PING\r\n', 'client'],
  ['GET /key\r\n', 'client'],
  ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'http'],
  ['POST /v0/entity HTTP/1.0\r\n', 'http'],
  ['\x16\x03\x01\x02\x00', 'tls'],
  ['\xff\xfe\x00\n', 'client'],
  ['*9999999999\r\n', 'client'],
  ['*1\r\n$99999999999\r\n', 'client'],
  ['OC.STATUSES\r\n', 'client']
])('%j comes from: %s', (text, caller) => {
  expect(callerOf(text)).toBe(caller)
})

test('what is cut is unclear until it is decided, and never decided otherwise', () => {
  for (const text of ['*1\r\n$9\r\nOC.STATUS\r\n', 'OC.LEAVE\r\n', 'GET / HTTP/1.1\r\n']) {
    const whole = callerOf(text)
    for (let length = 1; length < text.length; length++) {
      expect([whole, 'unclear']).toContain(callerOf(text.slice(0, length)))
    }
  }
})

test('an ordinary command is not held back', () => {
  expect(callerOf('*1\r\n$4\r\nP')).toBe('client')
  expect(callerOf('SET a b\n')).toBe('client')
  expect(callerOf(`GET /${'x'.repeat(3000)}`)).toBe('client')
})
