import { describe, expect, it } from 'vitest'
import { ByteWriter, latin1Bytes } from '../core/bytes.js'
import { nodeName } from '../core/ids.js'
import { Random } from '../core/random.js'
import { encodeEnvelopeHead, PEER_PROTOCOL, type EnvelopeHead } from '../wire/peer/envelope.js'
import { MESSAGE_KINDS, type Message } from '../wire/peer/message.js'
import { RespError } from '../wire/resp/reply-value.js'
import { encodeArguments } from '../wire/resp/request-writer.js'
import {
  configOf,
  MiniCluster,
  type MiniClient,
  type MiniNode
} from '../../test/support/mini-cluster.js'
import { Peers, type Peer } from './peers.js'

/** One end of a pair, without a node around it: what it got, and what it wants sent. */
function end(name: string, life: number): { peers: Peers; out: Uint8Array[]; heard: Message[] } {
  const out: Uint8Array[] = []
  const heard: Message[] = []
  const ignore = (): void => undefined
  const outbox = {
    send: (_: string, envelope: Uint8Array) => out.push(envelope.slice()),
    output: ignore,
    hangUp: ignore,
    event: ignore
  }
  const peers = new Peers(configOf(name, { life }), outbox, {
    message: (_, message) => heard.push(message),
    met: ignore,
    hasLeft: () => false,
    restarted: ignore,
    returned: ignore,
    acked: ignore
  })
  return { peers, out, heard }
}

function exchange(a: ReturnType<typeof end>, b: ReturnType<typeof end>): void {
  for (let i = 0; i < 6; i++) {
    a.peers.flush(0)
    for (const envelope of a.out.splice(0)) b.peers.receive(envelope, 0)
    b.peers.flush(0)
    for (const envelope of b.out.splice(0)) a.peers.receive(envelope, 0)
  }
}

describe('an acknowledgement', () => {
  function met() {
    const [a, b] = [end('a', 1), end('b', 2)]
    a.peers.contact('b', 0)
    exchange(a, b)
    const toB = a.peers.get(nodeName('b'))!
    const toA = b.peers.get(nodeName('a'))!
    expect(toB.stream.peerLife).toBe(2)
    expect(toA.stream.peerLife).toBe(1)
    return { a, b, toB, toA }
  }

  it('counts when the message was processed', () => {
    const { a, b, toB } = met()
    const frame = a.peers.send(toB, { kind: 'votersAsk' }, 0)
    expect(toB.hasProcessed(frame)).toBe(false)
    exchange(a, b)
    expect(b.heard).toEqual([{ kind: 'votersAsk' }])
    expect(toB.hasProcessed(frame)).toBe(true)
  })

  it('that nobody waits for travels with what is said next, or by itself after a while', () => {
    const { a, b, toB, toA } = met()
    const frame = a.peers.send(toB, { kind: 'levelAsk' }, 0)
    a.peers.flush(0)
    b.peers.receive(a.out.splice(0)[0], 0)
    b.peers.flush(0)
    expect(b.out).toEqual([])
    const due = b.peers.deadline
    expect(due).toBeLessThan(configOf('b').retransmitMs)
    b.peers.tick(due)
    b.peers.flush(due)
    a.peers.receive(b.out.splice(0)[0], due)
    expect(toB.hasProcessed(frame)).toBe(true)

    const second = a.peers.send(toB, { kind: 'levelAsk' }, due)
    a.peers.flush(due)
    b.peers.receive(a.out.splice(0)[0], due)
    b.peers.send(toA, { kind: 'votersAsk' }, due)
    b.peers.flush(due)
    expect(b.out).toHaveLength(1)
    a.peers.receive(b.out.splice(0)[0], due)
    expect(toB.hasProcessed(second)).toBe(true)
    expect(toA.stream.ackByMs).toBe(Infinity)
  })

  it('does not count before everything that was said ahead of it is known', () => {
    const { a, b, toB, toA } = met()
    const frame = a.peers.send(toB, { kind: 'votersAsk' }, 0)
    a.peers.flush(0)
    const [question] = a.out.splice(0)
    b.peers.receive(question, 0)
    b.peers.send(toA, { kind: 'levelAsk' }, 0)
    b.peers.flush(0)
    const [late] = b.out.splice(0)
    // The question comes twice, so b acknowledges again, with nothing else in the envelope.
    b.peers.receive(question, 0)
    b.peers.flush(0)
    const [early] = b.out.splice(0)
    a.peers.receive(early, 0)
    expect(toB.hasProcessed(frame)).toBe(false)
    a.peers.receive(late, 0)
    expect(a.heard).toEqual([{ kind: 'levelAsk' }])
    expect(toB.hasProcessed(frame)).toBe(true)
    expect(b.heard).toHaveLength(1)
  })

  it('of an earlier life counts for nothing', () => {
    const { a, b, toB } = met()
    const reborn = end('a', 5)
    const frame = a.peers.send(toB, { kind: 'votersAsk' }, 0)
    a.peers.flush(0)
    for (const envelope of a.out.splice(0)) b.peers.receive(envelope, 0)
    b.peers.flush(0)
    const [old] = b.out.splice(0)
    reborn.peers.contact('b', 0)
    exchange(reborn, b)
    const again = reborn.peers.get(nodeName('b'))!
    const other = reborn.peers.send(again, { kind: 'votersAsk' }, 0)
    reborn.peers.receive(old, 0)
    expect(again.hasProcessed(other)).toBe(false)
    expect(frame).toBeGreaterThan(0)
  })

  it('is not made up for a backup that has never answered', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    cluster.cut('b', 'c')
    const c = cluster.start('c')
    // c becomes primary of a bucket whose backup b it has never heard.
    const mine = (): string | undefined =>
      Array.from({ length: 200 }, (_, i) => `key:${i}`).find((key) => {
        const state = cluster.stateOf(key, c.node)
        return state?.role === 'primary' && state.backups.some(({ name }) => name === 'b')
      })
    cluster.runUntil(() => mine() !== undefined, 900)
    const key = mine()!
    const client = cluster.client(c)
    client.send('SET', key, 'acknowledged')
    cluster.run(20)
    cluster.heal()
    cluster.runUntil(() => client.replies.length > 0, 5000)
    expect(client.replies).toEqual(['OK'])
    // From here on every in-sync copy has it: c may die.
    c.kill()
    a.events.length = b.events.length = 0
    cluster.run(3000)
    expect(cluster.client(a).call('GET', key)).toBe('acknowledged')
  })
})

describe('what cannot be understood', () => {
  interface Scene {
    readonly cluster: MiniCluster
    readonly a: MiniNode
    readonly b: MiniNode
    readonly c: MiniNode
    readonly client: MiniClient
    readonly key: string
  }

  /** Three nodes, and a key that b has nothing to do with. */
  function scene(): Scene {
    const cluster = new MiniCluster()
    const [a, b, c] = cluster.startAll('a', 'b', 'c')
    const key = cluster.keysOn(a, 100).find((known) => cluster.backupOf(known) === c)!
    return { cluster, a, b, c, client: cluster.client(a), key }
  }

  function envelope(head: Partial<EnvelopeHead>, ...frames: Uint8Array[]): Uint8Array {
    const writer = new ByteWriter()
    const known = { cluster: 0, from: nodeName('x'), address: 'x', fromLife: 1, toLife: 0 }
    encodeEnvelopeHead({ ...known, sent: 0, total: frames.length, acked: 0, ...head }, writer)
    for (const frame of frames) {
      writer.varint(frame.length)
      writer.raw(frame)
    }
    return writer.copy()
  }

  function expectServing({ cluster, client, key }: Scene): void {
    expect(client.call('SET', key, 'still here')).toBe('OK')
    cluster.run(2000)
    expect(client.call('GET', key)).toBe('still here')
  }

  it('is refused with one event when it is random bytes, and everything goes on', () => {
    const the = scene()
    const random = new Random(5)
    for (let i = 0; i < 300; i++) {
      const bytes = Uint8Array.from({ length: random.below(60) }, () => random.below(256))
      const before = the.a.eventsOf('peerError').length
      the.cluster.inject('a', bytes)
      expect(the.a.eventsOf('peerError').length - before).toBe(1)
    }
    expectServing(the)
  })

  it('is refused with one event when it is of another cluster', () => {
    const the = scene()
    the.cluster.inject('a', envelope({ cluster: the.a.node.peers.cluster ^ 1 }))
    expect(the.a.eventsOf('peerError')).toEqual([
      { kind: 'peerError', node: 'x', reason: 'it belongs to another cluster' }
    ])
    expect(the.a.node.peers.get(nodeName('x'))).toBeUndefined()
    expectServing(the)
  })

  it('is refused with one event when it is of another protocol version', () => {
    const the = scene()
    const bytes = envelope({})
    bytes[0] = PEER_PROTOCOL + 1
    the.cluster.inject('a', bytes)
    expect(the.a.eventsOf('peerError')).toHaveLength(1)
    expect(the.a.eventsOf('peerError')[0].reason).toContain(`protocol ${PEER_PROTOCOL + 1}`)
    expectServing(the)
  })

  it('is refused when the frames of an envelope are cut off', () => {
    const the = scene()
    const life = the.a.node.config.life
    const whole = envelope({ toLife: life }, new Uint8Array(20).fill(255))
    the.cluster.inject('a', whole.slice(0, -10))
    expect(the.a.eventsOf('peerError')).toHaveLength(1)
    expectServing(the)
  })

  /** Lets b say something to a that b would not say, as the next thing on their stream. */
  function say({ cluster, b }: Scene, frame: Uint8Array): void {
    const peer: Peer = b.node.peers.get(nodeName('a'))!
    peer.stream.push(frame, cluster.now)
    b.input((node, now) => node.tick(now))
    cluster.run(10)
  }

  function expectOnlyBroken(the: Scene): void {
    expect(the.a.eventsOf('peerError')).toMatchObject([{ node: 'b' }])
    const broken = [...the.a.node.peers.all()].filter((peer) => peer.broken)
    expect(broken.map(({ name }) => name)).toEqual(['b'])
    expect([...the.c.node.peers.all()].some((peer) => peer.broken)).toBe(false)
    expectServing(the)
  }

  it('breaks only with the peer that said it', () => {
    const the = scene()
    say(the, new Uint8Array([MESSAGE_KINDS.length, 1, 2, 3]))
    expectOnlyBroken(the)
    expect(the.a.eventsOf('peerError')[0].reason).toContain('unknown message kind')
  })

  it('is mended by a new life of that peer', () => {
    const the = scene()
    say(the, new Uint8Array([MESSAGE_KINDS.length]))
    the.b.kill()
    the.cluster.run(50)
    the.cluster.start('b')
    the.cluster.run(500)
    the.cluster.balance()
    expect(the.a.node.peers.get(nodeName('b'))?.broken).toBe(false)
    expectServing(the)
  })

  function batchOf(entry: {
    bucket: number
    mask?: number
    epoch?: number
    seq?: number
    raw: Uint8Array
  }): Uint8Array {
    const writer = new ByteWriter()
    writer.u8(MESSAGE_KINDS.indexOf('batch'))
    writer.f64(1_000_000)
    writer.u16(entry.bucket)
    writer.u16(entry.mask ?? 0xf)
    writer.varint(entry.epoch ?? 1)
    writer.varint(entry.seq ?? 1)
    writer.f64(1)
    writer.varint(entry.raw.length)
    writer.raw(entry.raw)
    return writer.copy()
  }

  const set = encodeArguments(['SET', 'k', 'v'].map(latin1Bytes))

  /** An entry that a's copy of one of b's buckets would take. */
  function acceptable({ a, b }: Scene): { bucket: number; epoch: number; seq: number } {
    const state = a.held.find(({ role, source }) => role === 'backup' && source === b.name)!
    return { bucket: state.id, epoch: state.epoch, seq: state.seq + 1 }
  }

  it.each([
    ['a bucket beyond the mask', () => ({ bucket: 500, raw: set })],
    ['a mask that is none', () => ({ bucket: 1, mask: 3, raw: set })],
    ['a command that is cut off', (the: Scene) => ({ ...acceptable(the), raw: set.slice(0, -5) })],
    [
      'an unknown command',
      (the: Scene) => ({ ...acceptable(the), raw: encodeArguments([latin1Bytes('NONE')]) })
    ],
    [
      'a command without its arguments',
      (the: Scene) => ({ ...acceptable(the), raw: encodeArguments([latin1Bytes('SET')]) })
    ],
    ['no command', (the: Scene) => ({ ...acceptable(the), raw: new Uint8Array(0) })]
  ])('breaks with a peer whose batch has %s, and with nobody else', (_, entry) => {
    const the = scene()
    say(the, batchOf(entry(the)))
    expectOnlyBroken(the)
  })

  it('may be a batch that is cut off', () => {
    const the = scene()
    say(the, batchOf({ ...acceptable(the), raw: set }).slice(0, -3))
    expectOnlyBroken(the)
  })

  it('never ends a node, whatever single byte of what a peer says is wrong', () => {
    const the = scene()
    const random = new Random(8)
    let changed = 0
    the.cluster.onPost = (from, to, bytes) => {
      if (from !== 'b' || to !== 'a' || !random.chance(0.2)) return true
      bytes[random.below(bytes.length)] ^= 1 << random.below(8)
      changed++
      return true
    }
    const writer = the.cluster.client(the.b)
    for (let i = 0; i < 300; i++) {
      writer.send('SET', `key:${i}`, 'v')
      the.cluster.run(5)
    }
    expect(changed).toBeGreaterThan(10)
    the.cluster.onPost = undefined
    expectServing(the)
  })
})

describe('a client that sends too much', () => {
  it('gets an error and is hung up on', () => {
    const cluster = new MiniCluster({ maxRequestBytes: 1000 })
    const [a] = cluster.startAll('a', 'b')
    const [client, other] = [cluster.client(a), cluster.client(a)]
    client.sendRaw(latin1Bytes(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$900\r\n${'x'.repeat(500)}`))
    expect(client.replies).toEqual([])
    client.sendRaw(latin1Bytes('x'.repeat(600)))
    expect(client.replies).toEqual([new RespError('ERR Protocol error: too big request')])
    expect(client.hungUp).toBe(true)
    client.sendRaw(latin1Bytes('PING\r\n'))
    expect(client.replies).toHaveLength(1)
    expect(other.call('PING')).toBe('PONG')
    expect(a.node.inspect().queuedBytes).toBeLessThan(1000)
  })

  it('gets an error for an announced length that is too large, before it sends it', () => {
    const cluster = new MiniCluster({ maxRequestBytes: 1000 })
    const client = cluster.client(cluster.start('a'))
    client.sendRaw(latin1Bytes('*2\r\n$3\r\nGET\r\n$2000\r\n'))
    expect(client.replies).toEqual([new RespError('ERR Protocol error: invalid bulk length')])
    expect(client.hungUp).toBe(true)
  })

  it('gets the replies to what came before', () => {
    const cluster = new MiniCluster()
    const client = cluster.client(cluster.start('a'))
    client.sendRaw(latin1Bytes('PING\r\n*1\r\nnonsense\r\n'))
    expect(client.replies[0]).toBe('PONG')
    expect(client.replies[1]).toBeInstanceOf(RespError)
    expect(client.hungUp).toBe(true)
  })
})

describe('a node that has left', () => {
  it('is kept nothing for when it cannot be heard any more, and the stream goes on if it comes back', () => {
    const [a, b] = [end('a', 1), end('b', 2)]
    a.peers.contact('b', 0)
    exchange(a, b)
    const toB = a.peers.get(nodeName('b'))!
    const reason = 'x'.repeat(1000)
    for (let i = 0; i < 5; i++) a.peers.send(toB, { kind: 'busy', move: i, reason }, 0)
    toB.left = true
    a.peers.tick(1)
    expect(a.peers.queuedBytes).toBeGreaterThan(5000)
    a.peers.tick(60_000)
    expect(a.peers.queuedBytes).toBe(5)

    b.heard.length = 0
    a.peers.send(toB, { kind: 'votersAsk' }, 60_000)
    exchange(a, b)
    expect(b.heard).toEqual([{ kind: 'votersAsk' }])
    expect(toB.stream.unackedBytes).toBe(0)
  })
})

describe('a node whose large envelope is still coming', () => {
  it('is heard, unless it was taken for dead', () => {
    const [a, b] = [end('a', 1), end('b', 2)]
    a.peers.contact('b', 0)
    exchange(a, b)
    const toB = a.peers.get(nodeName('b'))!
    toB.suspect = true
    a.peers.hearing('b', 700)
    expect(toB).toMatchObject({ lastHeardMs: 700, suspect: false })
    toB.dead = true
    a.peers.hearing('b', 900)
    a.peers.hearing('nobody', 900)
    expect(toB.lastHeardMs).toBe(700)
  })
})
