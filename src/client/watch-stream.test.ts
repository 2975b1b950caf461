import { describe, expect, it } from 'vitest'
import { WatchStream, type WatchEvent } from './watch-stream.js'

function event(seq: number): WatchEvent {
  return { kind: 'set', key: `k${seq}`, bucket: 1, seq }
}

function create(maxEvents = 10): { stream: WatchStream; ends: number[] } {
  const ends: number[] = []
  return { stream: new WatchStream('*', maxEvents, () => ends.push(1)), ends }
}

describe('a stream of events', () => {
  it('gives them in order, those that came before and those that come while it is awaited', async () => {
    const { stream } = create()
    stream.put(event(1))
    stream.put(event(2))
    expect((await stream.next()).value).toEqual(event(1))
    expect((await stream.next()).value).toEqual(event(2))
    const third = stream.next()
    stream.put(event(3))
    expect((await third).value).toEqual(event(3))
  })

  it('keeps the newest when there are too many, and tells of the gap first', async () => {
    const { stream } = create(3)
    for (let i = 1; i <= 5000; i++) stream.put(event(i))
    const kinds: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const { value } = await stream.next()
      kinds.push(value?.kind === 'set' ? value.seq : value?.kind)
    }
    expect(kinds).toEqual(['gap', 4999, 5000])
  })

  it('ends for whoever waits, after what has come', async () => {
    const { stream, ends } = create()
    stream.put(event(1))
    stream.end()
    expect((await stream.next()).value).toEqual(event(1))
    expect((await stream.next()).done).toBe(true)
    const { stream: other } = create()
    const waiting = other.next()
    other.end()
    other.put(event(1))
    expect((await waiting).done).toBe(true)
    expect(ends).toEqual([1])
  })

  it('is let go by leaving the loop', async () => {
    const { stream, ends } = create()
    stream.put(event(1))
    stream.put(event(2))
    for await (const { kind } of stream) {
      expect(kind).toBe('set')
      break
    }
    expect(ends).toEqual([1])
    expect((await stream.next()).done).toBe(true)
  })

  it('gives an error to whoever takes the next event', async () => {
    const { stream } = create()
    const waiting = stream.next()
    stream.fail(new Error('too many watches'))
    await expect(waiting).rejects.toThrow('too many watches')
    await expect(stream.next()).rejects.toThrow('too many watches')
  })
})
