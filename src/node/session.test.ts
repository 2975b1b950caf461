import { describe, expect, it } from 'vitest'
import { latin1Bytes, latin1String } from '../core/bytes.js'
import { nodeName } from '../core/ids.js'
import { Peer } from './peers.js'
import { Session } from './session.js'

function peer(name: string): Peer {
  const made = new Peer(nodeName(name), name, { now: 0, retransmitMs: 0 })
  made.stream.restart(1)
  return made
}

function released(session: Session): string {
  let text = ''
  session.release((bytes) => {
    text += latin1String(bytes, 0, bytes.length)
  })
  return text
}

/** Puts a frame on the way and says which it was. */
function frameTo(to: Peer): number {
  return to.stream.push(new Uint8Array(1), 0)
}

describe('a session', () => {
  it('gives out replies without gates at once and in order', () => {
    const session = new Session(1, true)
    session.enqueue(latin1Bytes('a'), [])
    session.enqueue(latin1Bytes('b'), [])
    expect(session.waits).toBe(true)
    expect(released(session)).toBe('ab')
    expect(session.waits).toBe(false)
    expect(released(session)).toBe('')
  })

  it('keeps a reply, and everything behind it, until all its gates are open', () => {
    const [b, c] = [peer('b'), peer('c')]
    const session = new Session(1, true)
    const [first, second] = [frameTo(b), frameTo(c)]
    session.enqueue(latin1Bytes('1'), [])
    session.enqueue(latin1Bytes('2'), [
      { peer: b, frame: first },
      { peer: c, frame: second }
    ])
    session.enqueue(latin1Bytes('3'), [])
    expect(released(session)).toBe('1')
    b.stream.acknowledge(1, 0)
    expect(released(session)).toBe('')
    c.stream.acknowledge(1, 0)
    expect(released(session)).toBe('23')
  })

  it('does not wait for a frame that was waived, but for those after it', () => {
    const b = peer('b')
    const session = new Session(1, true)
    const frame = frameTo(b)
    session.enqueue(latin1Bytes('1'), [{ peer: b, frame }])
    session.enqueue(latin1Bytes('2'), [{ peer: b, frame: frameTo(b) }])
    b.waived = frame
    expect(released(session)).toBe('1')
  })

  it('does not wait for a peer whose process ended', () => {
    const b = peer('b')
    const session = new Session(1, true)
    frameTo(b)
    // A write of this turn: its frame has a number, but is not on the stream yet.
    session.enqueue(latin1Bytes('1'), [{ peer: b, frame: b.batchFrame }])
    expect(released(session)).toBe('')
    b.stream.restart(2)
    expect(released(session)).toBe('1')
  })

  it('counts the bytes it keeps', () => {
    const session = new Session(1, true)
    session.input = latin1Bytes('in')
    session.enqueue(latin1Bytes('reply'), [{ peer: peer('b'), frame: 9 }])
    expect(session.queuedBytes).toBe(7)
  })
})
