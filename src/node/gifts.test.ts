// What becomes of a bucket whose primary was cut off while it gave it to a node that has ended since.
import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../test/support/mini-cluster.js'
import { ByteReader } from '../core/bytes.js'
import { decodeEnvelopeHead } from '../wire/peer/envelope.js'
import { decodeMessage } from '../wire/peer/message.js'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const LOST_AFTER_MS = 20_000

interface Scene {
  readonly cluster: MiniCluster
  readonly key: string
  readonly bucket: number
  /** The primary, which has the only copy and is cut off; the others have accepted that it gives it away. */
  readonly giver: MiniNode
  /** More than half of the voters; the node that was to have the bucket is dead. */
  readonly rest: readonly MiniNode[]
}

function scene(): Scene {
  const settings = { policy: 'majority', copies: 1, lostAfterMs: LOST_AFTER_MS } as const
  const cluster = new MiniCluster(settings)
  const nodes = NAMES.map((name) => cluster.start(name))
  const isThere = ({ node, primaries }: MiniNode): boolean =>
    node.inspect().voters.voters.length === NAMES.length && primaries.length >= 3
  cluster.runUntil(() => nodes.every(isThere))
  cluster.run(3000)
  const [giver, taker, ...rest] = nodes
  const [key] = cluster.keysOn(giver, 1)
  expect(cluster.client(giver).call('SET', key, 'kept')).toBe('OK')
  const bucket = cluster.stateOf(key, giver.node)?.id ?? -1
  cluster.onPost = (from, _, envelope) => {
    if (from === giver.name && proposes(envelope, bucket)) {
      taker.kill()
      for (const name of NAMES) cluster.cutOneWay(name, giver.name)
    }
    return true
  }
  giver.input((node) => {
    const holders = [node.table.indexOf(taker.name)]
    const isWanted = (): boolean => taker.state === 'running'
    node.changeRows([{ bucket, holders }], 'a test', { isWanted })
  })
  cluster.runUntil(() => taker.state === 'dead')
  cluster.onPost = undefined
  cluster.run(10)
  for (const { name } of rest) cluster.cut(giver.name, name)
  return { cluster, key, bucket, giver, rest }
}

function proposes(envelope: Uint8Array, bucket: number): boolean {
  const reader = ByteReader.over(envelope)
  decodeEnvelopeHead(reader)
  while (reader.remaining > 0) {
    const message = decodeMessage(reader.copy(reader.varint()))
    if (message.kind !== 'propose') continue
    if (message.asks.some(({ register }) => register === bucket)) return true
  }
  return false
}

/** Has the row decided once more, as whoever settles new voters does. */
function settle({ rest, bucket }: Scene): boolean[] {
  const answers: boolean[] = []
  rest[0].input((node) => {
    const holders = [node.table.primaryOf(bucket)]
    const done = (_: number, decided: boolean): unknown => answers.push(decided)
    node.changeRows([{ bucket, holders }], 'settle', { done })
  })
  return answers
}

function expectKept({ cluster, key, bucket, giver, rest }: Scene): void {
  cluster.runUntil(() => !rest.some(({ node }) => node.isDeciding(bucket)))
  cluster.run(2000)
  for (const { node } of rest) expect(node.table.row(bucket).primary).toBe(giver.name)
  expect(cluster.client(rest[1]).call('GET', key)).toBe('kept')
}

describe('a bucket that was given to a node that has ended', () => {
  it('stays with its primary if another node meets the proposal first', () => {
    const at = scene()
    at.cluster.run(1000)
    at.cluster.heal()
    settle(at)
    expectKept(at)
  })

  it('stays with its primary if the others are enough without it', () => {
    const at = scene()
    const answers = settle(at)
    at.cluster.run(5000)
    expect(answers).toEqual([])
    at.cluster.heal()
    expectKept(at)
  })

  it('stays with its primary if the answers come when it is over', () => {
    const { cluster, key, bucket, giver, rest } = scene()
    // The giver still counts them; its own next try would be later.
    cluster.heal()
    cluster.runUntil(() => !giver.node.isDeciding(bucket))
    cluster.run(2000)
    expect(giver.node.table.row(bucket).primary).toBe(giver.name)
    expect(cluster.client(rest[1]).call('GET', key)).toBe('kept')
  })

  it('is waited for no longer than any bucket that may be lost', () => {
    const at = scene()
    const { cluster, key, bucket, giver, rest } = at
    giver.kill()
    const answers = settle(at)
    cluster.run(LOST_AFTER_MS - 1000)
    expect(answers).toEqual([])
    cluster.runUntil(() => answers.length > 0, 3000)
    const isLost = (): boolean => rest.some((it) => it.eventsOf('lost').length > 0)
    cluster.runUntil(isLost, 2 * LOST_AFTER_MS)
    const client = cluster.client(rest[1])
    cluster.runUntil(() => cluster.running.some((it) => it.node.buckets[bucket] !== undefined))
    expect(client.call('GET', key)).toBe(null)
  })

  it('goes where it was given to, once its primary is another process', () => {
    const at = scene()
    const { cluster, bucket, giver } = at
    const answers = settle(at)
    cluster.run(1000)
    expect(answers).toEqual([])
    giver.kill()
    cluster.heal()
    cluster.start(giver.name, { join: ['c'] })
    cluster.runUntil(() => answers.length > 0, 5000)
    expect(answers).toEqual([false])
    expect(at.rest[0].node.table.row(bucket).primary).not.toBe(giver.name)
  })
})
