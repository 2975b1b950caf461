import { describe, expect, it } from 'vitest'
import { latin1Bytes, latin1String } from '../core/bytes.js'
import { nodeName } from '../core/ids.js'
import { FrameMemory } from '../core/replication/frame-memory.js'
import { Peer } from './peers.js'
import { Session, Slot } from './session.js'
import { Segment } from './segment.js'

function peer(name: string): Peer {
  const made = new Peer(nodeName(name), name, {
    now: 0,
    retransmitMs: 0,
    memory: new FrameMemory()
  })
  made.stream.restart(1)
  return made
}

function released(session: Session): string {
  let text = ''
  for (let segment = session.takeReady(); segment; segment = session.takeReady()) {
    text += latin1String(segment.bytes!, 0, segment.bytes!.length)
  }
  return text
}

/** Puts a frame on the way and says which it was. */
function frameTo(to: Peer): number {
  return to.stream.push(new Uint8Array(1), 0)
}

describe('a session', () => {
  it('gives out replies without gates at once and in order', () => {
    const session = new Session(1, true)
    session.enqueue(new Segment(latin1Bytes('a'), []))
    session.enqueue(new Segment(latin1Bytes('b'), []))
    expect(session.waits).toBe(true)
    expect(released(session)).toBe('ab')
    expect(session.waits).toBe(false)
    expect(released(session)).toBe('')
  })

  it('keeps a reply, and everything behind it, until all its gates are open', () => {
    const [b, c] = [peer('b'), peer('c')]
    const session = new Session(1, true)
    const [first, second] = [frameTo(b), frameTo(c)]
    session.enqueue(new Segment(latin1Bytes('1'), []))
    session.enqueue(
      new Segment(latin1Bytes('2'), [
        { peer: b, frame: first },
        { peer: c, frame: second }
      ])
    )
    session.enqueue(new Segment(latin1Bytes('3'), []))
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
    session.enqueue(new Segment(latin1Bytes('1'), [{ peer: b, frame }]))
    session.enqueue(new Segment(latin1Bytes('2'), [{ peer: b, frame: frameTo(b) }]))
    b.waived = frame
    expect(released(session)).toBe('1')
  })

  it('does not wait for a peer whose process ended', () => {
    const b = peer('b')
    const session = new Session(1, true)
    frameTo(b)
    // A write of this turn: its frame has a number, but is not on the stream yet.
    session.enqueue(new Segment(latin1Bytes('1'), [{ peer: b, frame: b.batchFrame }]))
    expect(released(session)).toBe('')
    b.stream.restart(2)
    expect(released(session)).toBe('1')
  })

  it('counts the bytes it keeps', () => {
    const session = new Session(1, true)
    session.input.append(latin1Bytes('in'))
    session.enqueue(new Segment(latin1Bytes('reply'), [{ peer: peer('b'), frame: 9 }]))
    expect(session.queuedBytes).toBe(7)
  })

  it('keeps what is behind a reply that is not known yet, and the order when it is', () => {
    const session = new Session(1, true)
    const slot = new Slot(session, latin1Bytes('request'))
    session.enqueue(new Segment(latin1Bytes('1'), []))
    session.enqueue(slot)
    session.enqueue(new Segment(latin1Bytes('3'), []))
    expect(released(session)).toBe('1')
    slot.bytes = latin1Bytes('2')
    expect(released(session)).toBe('23')
  })

  it('tells a slot that waits to be the first, once', () => {
    const session = new Session(1, true)
    const [before, slot] = [1, 2].map(() => new Slot(session, latin1Bytes('request')))
    let told = 0
    slot.whenFirst = () => {
      told++
      slot.bytes = latin1Bytes('2')
    }
    session.enqueue(before)
    session.enqueue(slot)
    expect(released(session)).toBe('')
    expect(told).toBe(0)
    before.bytes = latin1Bytes('1')
    expect(released(session)).toBe('12')
    expect(told).toBe(1)
  })

  it('forgets replies that were given out although some always wait', () => {
    const session = new Session(1, true)
    let text = ''
    session.enqueue(new Segment(latin1Bytes('0'), []))
    for (let i = 1; i < 5000; i++) {
      session.enqueue(new Segment(latin1Bytes(String(i % 10)), []))
      text += latin1String(session.takeReady()!.bytes!, 0, 1)
    }
    expect(text).toBe('0123456789'.repeat(500).slice(0, 4999))
    expect(session.queuedBytes).toBe(1)
  })
})
