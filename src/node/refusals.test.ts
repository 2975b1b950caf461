// What cannot be true is refused with one line on both sides: who is told it, and who said it.
import { describe, expect, it } from 'vitest'
import { ByteWriter } from '../core/bytes.js'
import { nodeName } from '../core/ids.js'
import { encodeMessage, type Message } from '../wire/peer/message.js'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'
import type { Row } from '../core/table.js'

const [A, B] = [nodeName('a'), nodeName('b')]
const FUTURE = 2_000_000_000
/** More than there have been. */
const ROUNDS = 100

interface Scene {
  readonly cluster: MiniCluster
  readonly a: MiniNode
  readonly b: MiniNode
  /** A bucket that b is primary of. */
  readonly bucket: number
  readonly row: Row
}

function scene(): Scene {
  const cluster = new MiniCluster({ policy: 'majority' })
  const [a, b] = cluster.startAll('a', 'b', 'c')
  cluster.runUntil(() => a.node.inspect().voters.voters.length === 3)
  cluster.run(3000)
  const [bucket] = b.primaries
  return { cluster, a, b, bucket, row: a.node.table.row(bucket) }
}

/** Lets b say to a what it never would. */
function say({ cluster, b }: Scene, message: Message): void {
  const writer = new ByteWriter()
  encodeMessage(message, writer)
  const peer = b.node.peers.get(A)
  peer?.stream.push(writer.copy(), cluster.now)
  b.input((node, now) => node.tick(now))
  cluster.run(100)
}

function expectRefused({ cluster, a, b, bucket, row }: Scene, reason: RegExp): void {
  expect(a.eventsOf('peerError')).toHaveLength(1)
  expect(a.eventsOf('peerError')[0]).toMatchObject({ node: B })
  expect(a.eventsOf('peerError')[0].reason).toMatch(reason)
  expect(b.eventsOf('peerError')).toEqual([{ ...a.eventsOf('peerError')[0], node: A }])
  cluster.run(3000)
  expect(a.node.table.row(bucket)).toEqual(row)
  expect(cluster.client(a).call('SET', cluster.keysOn(b, 1)[0], 'v')).toBe('OK')
}

describe('a row', () => {
  it('of an epoch from the future is refused', () => {
    const the = scene()
    const { bucket, row } = the
    const rows = [{ bucket, row: { ...row, epoch: FUTURE } }]
    say(the, { kind: 'rows', mask: 15, rows })
    expectRefused(the, /cannot be at epoch 2000000000, it is at \d+$/)
  })

  it('of an epoch from the future is not accepted by a voter either', () => {
    const the = scene()
    const { a, bucket, row } = the
    const { version } = a.node.inspect().voters
    const next = { epoch: FUTURE, primary: A, backups: [B] }
    const value = { kind: 'row', row: next, deposes: '' } as const
    const asks = [{ register: bucket, round: 1000, value }]
    say(the, { kind: 'propose', version, mask: 15, asks })
    expectRefused(the, /cannot be at epoch 2000000000/)
    expect(a.node.table.row(bucket)).toEqual(row)
  })

  it('of an epoch from the future is not what a promise counts with', () => {
    const the = scene()
    const { cluster, a, b, bucket, row } = the
    // Nobody answers but b, and what it says is not true.
    cluster.onPost = (_, to) => to !== 'b' && to !== 'c'
    a.input((node) => node.changeRows([{ bucket, holders: [node.self] }], 'for the test'))
    const value = { kind: 'row', row: { ...row, epoch: FUTURE }, deposes: '' } as const
    const accepted = { round: 1, name: B, life: b.node.config.life }
    // Whichever round it asked for.
    const answers = Array.from({ length: ROUNDS }, (_, i) => {
      return { register: bucket, round: i + 1, ok: true, highest: i + 1, accepted, value }
    })
    say(the, { kind: 'promise', answers })
    cluster.onPost = undefined
    expect(a.eventsOf('peerError').map(({ reason }) => reason)).toContainEqual(
      expect.stringMatching(/cannot be at epoch 2000000000/)
    )
    cluster.run(5000)
    expect(a.node.table.epochOf(bucket)).toBeLessThan(1000)
  })

  it('other than the one that was decided for its epoch is refused', () => {
    const the = scene()
    const { bucket, row } = the
    say(the, { kind: 'rows', mask: 15, rows: [{ bucket, row: { ...row, backups: [] } }] })
    expectRefused(the, /has another row at epoch \d+$/)
  })
})

describe('a node of another cluster', () => {
  it('is told of by both sides, and no more than once a greeting', () => {
    const [here, there] = [new MiniCluster({ seed: 1 }), new MiniCluster({ seed: 2 })]
    const [a] = here.startAll('a')
    const [x] = there.startAll('x')
    expect(a.node.peers.cluster).not.toBe(x.node.peers.cluster)
    here.onPost = (_, to, envelope) => {
      if (to === 'x') there.inject('x', envelope)
      return to !== 'x'
    }
    there.onPost = (_, to, envelope) => {
      if (to === 'a') here.inject('a', envelope)
      return to !== 'a'
    }
    a.input((node, now) => node.peers.contact('x', now))
    const reason = 'it belongs to another cluster'
    expect(x.eventsOf('peerError')).toEqual([{ kind: 'peerError', node: 'a', reason }])
    expect(a.eventsOf('peerError')).toEqual([{ kind: 'peerError', node: 'x', reason }])
    expect(a.node.peers.get(nodeName('x'))).toBeUndefined()
    expect(x.node.peers.get(nodeName('a'))).toBeUndefined()
  })
})
