import { describe, expect, it } from 'vitest'
import { Random } from '../random.js'
import { FrameMemory } from './frame-memory.js'
import { Stream } from './stream.js'

const OPTIONS = { retransmitMs: 10, envelopeBytes: 40, memory: new FrameMemory() }

interface Parcel {
  readonly to: number
  readonly sent: number
  readonly total: number
  readonly acked: number
  readonly frames: readonly Uint8Array[]
}

/** Two ends that do with a stream what `Peers` does, over a channel that keeps no promise. */
class Pair {
  now = 0
  readonly streams = [new Stream(OPTIONS), new Stream(OPTIONS)]
  readonly said: number[][] = [[], []]
  readonly heard: number[][] = [[], []]
  inFlight: Parcel[] = []
  readonly #random: Random
  #next = 1

  constructor(seed: number) {
    this.#random = new Random(seed)
    for (const stream of this.streams) stream.restart(1)
  }

  say(end: number): void {
    const number = this.#next++
    const frame = new Uint8Array(4 + this.#random.below(30))
    new DataView(frame.buffer).setUint32(0, number)
    this.streams[end].push(frame, this.now)
    this.said[end].push(number)
  }

  flush(end: number, loss: number): void {
    const stream = this.streams[end]
    for (;;) {
      const part = stream.take()
      if (part === undefined) return
      const parcel = { to: 1 - end, total: stream.total, acked: stream.received, ...part }
      if (!this.#random.chance(loss)) this.inFlight.push(parcel)
      if (this.#random.chance(loss)) this.inFlight.push(parcel)
    }
  }

  deliver(ordered: boolean): void {
    const place = ordered ? 0 : this.#random.below(this.inFlight.length)
    const [parcel] = this.inFlight.splice(place, 1)
    const stream = this.streams[parcel.to]
    if (parcel.sent > stream.received) stream.owesAck = true
    else {
      parcel.frames.forEach((frame, i) => {
        stream.owesAck = true
        if (parcel.sent + i !== stream.received) return
        this.heard[parcel.to].push(new DataView(frame.buffer).getUint32(0))
        stream.received++
      })
    }
    if (stream.received >= parcel.total) stream.acknowledge(parcel.acked, this.now)
  }

  tick(): void {
    this.now += 1
    for (const stream of this.streams) if (stream.deadline <= this.now) stream.rewind(this.now)
  }

  step(loss: number): void {
    const end = this.#random.below(2)
    const what = this.#random.below(10)
    if (what < 2) this.say(end)
    else if (what < 5) this.flush(end, loss)
    else if (what < 9 && this.inFlight.length > 0) this.deliver(false)
    else this.tick()
  }

  /** Loses nothing any more, until nobody has anything left to say. */
  settle(): number {
    for (let turns = 1; turns < 1000; turns++) {
      for (const end of [0, 1]) this.flush(end, 0)
      while (this.inFlight.length > 0) this.deliver(true)
      const quiet = this.streams.every((stream) => stream.acked === stream.sent && !stream.owesAck)
      if (quiet) return turns
      this.tick()
    }
    return Infinity
  }
}

describe('two streams over a channel that loses, doubles and reorders', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'carry every frame exactly once and in order, seed %i',
    (seed) => {
      const pair = new Pair(seed)
      for (let i = 0; i < 4000; i++) {
        pair.step(0.3)
        for (const end of [0, 1]) {
          // At no moment is anything out of order, doubled or left out.
          expect(pair.heard[1 - end]).toEqual(pair.said[end].slice(0, pair.heard[1 - end].length))
          if (i % 100 !== 0) break
        }
      }
      expect(pair.settle()).toBeLessThan(100)
      expect(pair.heard[1]).toEqual(pair.said[0])
      expect(pair.heard[0]).toEqual(pair.said[1])
      expect(pair.said[0].length).toBeGreaterThan(200)
    }
  )

  it('count exactly the bytes that are not acknowledged', () => {
    for (let seed = 10; seed < 16; seed++) {
      const pair = new Pair(seed)
      const sizes: number[][] = [[], []]
      for (const end of [0, 1]) {
        const stream = pair.streams[end]
        const push = stream.push.bind(stream)
        stream.push = (frame, now) => {
          sizes[end].push(frame.length)
          return push(frame, now)
        }
      }
      for (let i = 0; i < 2000; i++) {
        pair.step(0.2)
        for (const end of [0, 1]) {
          const { sent, acked, unackedBytes } = pair.streams[end]
          const open = sizes[end].slice(sizes[end].length - (sent - acked))
          expect(unackedBytes).toBe(open.reduce((sum, size) => sum + size, 0))
        }
      }
      pair.settle()
      expect(pair.streams.map((stream) => stream.unackedBytes)).toEqual([0, 0])
    }
  })
})

describe('one stream', () => {
  const frame = (length: number): Uint8Array => new Uint8Array(length)

  function stream(): Stream {
    const it = new Stream(OPTIONS)
    it.restart(1)
    return it
  }

  it('has nothing to say at first', () => {
    const it = stream()
    expect(it.take()).toBeUndefined()
    expect(it.deadline).toBe(Infinity)
    expect(it.total).toBe(0)
  })

  it('cuts what it has into envelopes, at least one frame each', () => {
    const it = stream()
    for (const size of [30, 30, 30, 100, 1]) it.push(frame(size), 0)
    const sizes = []
    for (let part = it.take(); part !== undefined; part = it.take()) {
      sizes.push([part.sent, ...part.frames.map(({ length }) => length)])
    }
    expect(sizes).toEqual([
      [0, 30, 30],
      [2, 30, 100],
      [4, 1]
    ])
  })

  it('says what it owes even without a frame, once', () => {
    const it = stream()
    it.owesAck = true
    expect(it.take()).toEqual({ sent: 0, frames: [] })
    expect(it.take()).toBeUndefined()
  })

  it('hands out again, after a rewind, only what is not acknowledged', () => {
    const it = stream()
    for (let i = 0; i < 3; i++) it.push(frame(1), 0)
    it.take()
    expect(it.acknowledge(2, 1)).toBe(true)
    expect(it.take()).toBeUndefined()
    it.rewind(20)
    expect(it.take()).toMatchObject({ sent: 2, frames: [{ length: 1 }] })
  })

  it('ignores acknowledgements that are old, or of frames that were never sent', () => {
    const it = stream()
    for (let i = 0; i < 3; i++) it.push(frame(5), 0)
    it.take()
    expect(it.acknowledge(4, 1)).toBe(false)
    expect(it.acknowledge(2, 1)).toBe(true)
    expect(it.acknowledge(2, 1)).toBe(false)
    expect(it.acknowledge(1, 1)).toBe(false)
    expect(it.unackedBytes).toBe(5)
  })

  it('looks again a while after the last progress', () => {
    const it = stream()
    it.push(frame(1), 5)
    it.push(frame(1), 9)
    expect(it.deadline).toBe(15)
    it.take()
    it.acknowledge(1, 12)
    expect(it.deadline).toBe(22)
    it.rewind(22)
    expect(it.deadline).toBe(32)
    it.acknowledge(2, 30)
    expect(it.deadline).toBe(Infinity)
  })

  it('forgets everything with a new life of the other end, and leaves nobody waiting', () => {
    const it = stream()
    for (let i = 0; i < 3; i++) it.push(frame(7), 0)
    const last = it.sent
    it.take()
    it.received = 4
    it.owesAck = true
    it.restart(2)
    // Whoever waits for a frame, the one of a batch being written included, need not any more.
    expect(it.acked).toBeGreaterThanOrEqual(last + 1)
    expect(it).toMatchObject({ unackedBytes: 0, received: 0, owesAck: false, total: 0 })
    expect(it.take()).toBeUndefined()
    const number = it.push(frame(2), 0)
    expect(number).toBeGreaterThan(last + 1)
    expect(it.take()).toMatchObject({ sent: 0, frames: [{ length: 2 }] })
    // Counting begins anew on the wire.
    expect(it.acknowledge(3, 0)).toBe(false)
    expect(it.acknowledge(1, 0)).toBe(true)
    expect(it.acked).toBe(number)
  })

  it('does not go back to an earlier life', () => {
    const it = stream()
    expect(() => it.restart(1)).toThrow('a new life begins later')
  })
})
