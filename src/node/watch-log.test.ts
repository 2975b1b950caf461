import { describe, expect, it } from 'vitest'
import { nodeName } from '../core/ids.js'
import type { WatchEvent } from '../wire/peer/watch.js'
import { FrameMemory } from '../core/replication/frame-memory.js'
import { Peer } from './peers.js'
import { EventLog, LOG_EVENTS_MAX, type PeerGate, type Teller } from './watch-log.js'

const FRAME = new Uint8Array(1)

function peerNamed(name: string): Peer {
  return new Peer(nodeName(name), name, { now: 0, retransmitMs: 100, memory: new FrameMemory() })
}

function gateOf(peer: Peer): PeerGate {
  return { peer, frame: peer.stream.push(FRAME, 0) }
}

function ackAll({ stream }: Peer): void {
  stream.acknowledge(stream.total, 0)
}

function event(seq: number, key = `key:${seq}`): WatchEvent {
  return { seq, change: 'set', key, names: '' }
}

/** Sends to one node, and remembers what. */
class Told implements Teller {
  readonly heard: (number | 'gap')[] = []
  readonly peer = peerNamed('watcher')

  tell({ seq }: WatchEvent): PeerGate[] {
    this.heard.push(seq)
    return [gateOf(this.peer)]
  }

  isTold({ peer, frame }: PeerGate): boolean {
    return peer.stream.acked >= frame || !peer.isOpen || peer.left
  }

  tellGap(): PeerGate[] {
    this.heard.push('gap')
    return [gateOf(this.peer)]
  }
}

describe('on a primary', () => {
  it('an event is told when its write is on every copy, in order', () => {
    const [one, other, told, log] = [peerNamed('b'), peerNamed('c'), new Told(), new EventLog()]
    log.add(event(1), [gateOf(one)])
    log.add(event(2), [gateOf(other)])
    log.add(event(3), [])
    log.advance(told)
    expect(told.heard).toEqual([])
    ackAll(other)
    log.advance(told)
    expect(told.heard).toEqual([])
    ackAll(one)
    log.advance(told)
    expect(told.heard).toEqual([1, 2, 3])
  })

  it('counts as untold until the watchers have it', () => {
    const [told, log] = [new Told(), new EventLog()]
    log.add(event(5), [])
    log.add(event(7), [])
    log.advance(told)
    // Writes 5 to 9, of which only 5 and 7 are watched.
    expect(log.untold(9)).toBe(5)
    told.peer.stream.acknowledge(1, 0)
    log.advance(told)
    expect(log.untold(9)).toBe(4)
    ackAll(told.peer)
    log.advance(told)
    expect(log.untold(9)).toBe(0)
    expect(log.isEmpty).toBe(true)
  })

  it('does not wait for a node that is gone', () => {
    for (const go of [
      (peer: Peer) => (peer.dead = true),
      (peer: Peer) => (peer.left = true),
      (peer: Peer) => peer.stream.restart(9)
    ]) {
      const [told, log] = [new Told(), new EventLog()]
      told.peer.stream.restart(1)
      log.add(event(1), [])
      log.advance(told)
      expect(log.isEmpty).toBe(false)
      go(told.peer)
      log.advance(told)
      expect(log.isEmpty).toBe(true)
    }
  })

  it('tells of a gap where it had to drop what was not told yet', () => {
    const [backup, told, log] = [peerNamed('b'), new Told(), new EventLog()]
    const gate = gateOf(backup)
    for (let seq = 1; seq <= LOG_EVENTS_MAX + 2; seq++) log.add(event(seq), [gate])
    ackAll(backup)
    log.advance(told)
    expect(told.heard.slice(0, 3)).toEqual(['gap', 3, 4])
    expect(told.heard).toHaveLength(LOG_EVENTS_MAX + 1)
    ackAll(told.peer)
    log.advance(told)
    expect(log.isEmpty).toBe(true)
  })

  it('what is dropped on its way is no gap, unless a backup has to tell it again', () => {
    const [told, log] = [new Told(), new EventLog()]
    for (let seq = 1; seq <= LOG_EVENTS_MAX + 2; seq++) {
      log.add(event(seq), [])
      log.advance(told)
    }
    expect(told.heard).toHaveLength(LOG_EVENTS_MAX + 2)
    expect(told.heard).not.toContain('gap')
    expect(log.lostUpTo).toBe(2)
    expect(log.untold(LOG_EVENTS_MAX + 2)).toBe(LOG_EVENTS_MAX + 2)
    told.peer.stream.acknowledge(2, 0)
    log.advance(told)
    expect(log.lostUpTo).toBe(0)
  })
})

describe('on a backup', () => {
  it('what the primary has told is forgotten, and the rest told again after a promotion', () => {
    const [other, told, log] = [peerNamed('c'), new Told(), new EventLog()]
    for (const seq of [1, 2, 4, 5]) log.add(event(seq), [])
    log.trim(3)
    expect(log.events.map(({ seq }) => seq)).toEqual([4, 5])
    log.reopen([gateOf(other)])
    log.add(event(6), [])
    log.advance(told)
    expect(told.heard).toEqual([])
    ackAll(other)
    log.advance(told)
    expect(told.heard).toEqual([4, 5, 6])
  })

  it('a gap is told after a promotion although nothing else is left to tell', () => {
    const [told, log] = [new Told(), new EventLog()]
    log.noteLost(3)
    log.reopen([])
    log.advance(told)
    expect(told.heard).toEqual(['gap'])
    expect(log.isEmpty).toBe(false)
    ackAll(told.peer)
    log.advance(told)
    expect(log.isEmpty).toBe(true)
  })

  it('a gap is told first, unless the primary has told what is missing', () => {
    for (const [upTo, heard] of [
      [0, ['gap', 2]],
      [1, [2]]
    ] as const) {
      const [told, log] = [new Told(), new EventLog()]
      for (let seq = 1; seq <= LOG_EVENTS_MAX + 1; seq++) log.add(event(seq), [])
      log.trim(upTo)
      log.reopen([])
      log.advance(told)
      expect(told.heard.slice(0, heard.length)).toEqual(heard)
    }
  })
})

it('after a split each piece goes on with its own', () => {
  const [told, log] = [new Told(), new EventLog()]
  for (const [seq, key] of [
    [1, 'a'],
    [2, 'b'],
    [3, 'a']
  ] as const) {
    log.add(event(seq, key), [])
  }
  const backup = peerNamed('b')
  log.advance(told)
  log.add(event(4, 'a'), [gateOf(backup)])
  log.add(event(5, 'b'), [gateOf(backup)])
  const [a, b] = ['a', 'b'].map((name) => log.part((key) => key === name))
  expect(a.events.map(({ seq }) => seq)).toEqual([1, 3, 4])
  expect(b.untold(5)).toBe(5)
  ackAll(backup)
  a.advance(told)
  b.advance(told)
  expect(told.heard).toEqual([1, 2, 3, 4, 5])
  ackAll(told.peer)
  b.advance(told)
  expect(b.untold(5)).toBe(0)
})
