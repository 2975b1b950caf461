import { describe, expect, it } from 'vitest'
import { utf8Bytes } from '../core/bytes.js'
import { RespError, type ReplyValue } from '../wire/resp/reply-value.js'
import * as reply from './reply.js'

const bulk = (text: string): ReplyValue => utf8Bytes(text)

describe('replies', () => {
  it('are texts, whatever their length and letters', () => {
    for (const text of ['', 'a', 'ü', 'plain', '€'.repeat(30), 'x'.repeat(24), '\u{feff}bom']) {
      expect(reply.asText(bulk(text))).toBe(text)
    }
    expect(reply.asTextOrNull(null)).toBe(null)
    expect(reply.asText(12)).toBe('12')
  })

  it('are numbers in both protocols', () => {
    expect(reply.asNumber(3)).toBe(3)
    expect(reply.asNumber(bulk('1.5'))).toBe(1.5)
    expect(reply.asNumber(bulk('-inf'))).toBe(-Infinity)
    expect(reply.asNumber(true)).toBe(1)
    expect(() => reply.asNumber(bulk('one'))).toThrow('not a number: one')
    expect(() => reply.asNumber(bulk(''))).toThrow('not a number')
    expect(() => reply.asNumber(9007199254740993n)).toThrow('too large')
    expect(reply.asNumberOrNull(null)).toBe(null)
  })

  it('are the same maps, sets and scores in both protocols', () => {
    const map = new Map([['a', '1']])
    expect(reply.asTextMap([bulk('a'), bulk('1')])).toEqual(map)
    expect(reply.asTextMap(new Map([[bulk('a'), bulk('1')]]))).toEqual(map)
    expect(reply.asTextSet(new Set([bulk('a')]))).toEqual(new Set(['a']))
    expect(reply.asTextSet([bulk('a')])).toEqual(new Set(['a']))
    const scored = [{ member: 'm', score: 1.5 }]
    expect(reply.asScored([bulk('m'), bulk('1.5')])).toEqual(scored)
    expect(reply.asScored([[bulk('m'), 1.5]])).toEqual(scored)
  })

  it('are JSON, or say that they are not', () => {
    expect(reply.asJson(bulk('{"a":[1]}'))).toEqual({ a: [1] })
    expect(reply.asJson(null)).toBe(null)
    expect(() => reply.asJson(bulk('{'))).toThrow('not JSON')
  })

  it('are texts all the way down', () => {
    const nested = [bulk('a'), [1, bulk('b')], new Map([[bulk('k'), new Set([bulk('v')])]])]
    const text = ['a', [1, 'b'], new Map([['k', new Set(['v'])]])]
    expect(reply.asTextReply(nested)).toEqual(text)
  })

  it('are errors with the words of the node', () => {
    const error = new reply.ReplyError(new RespError('WRONGTYPE Operation against'))
    expect(error).toMatchObject({ code: 'OC_REFUSED', kind: 'WRONGTYPE' })
    expect(() => reply.asTextReply([new RespError('ERR x')])).toThrow('ERR x')
    expect(() => reply.asWritten(1)).toThrow('OK or nil')
  })
})
