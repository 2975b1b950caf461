import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniNode } from '../../../test/support/mini-cluster.js'
import { RespError } from '../../wire/resp/reply-value.js'

function rowOf(at: MiniNode, primary: string): { bucket: number; epoch: number } {
  const row = at.node.inspect().rows.find((candidate) => candidate.primary === primary)
  if (row === undefined) throw new Error(`${primary} is primary of nothing`)
  return row
}

/** How long until the backup has taken over what the dead node held, with and without a client's word. */
function takeOverMs(policy: 'available' | 'majority', accused: boolean): number {
  const cluster = new MiniCluster({ policy })
  const names = policy === 'available' ? ['a', 'b'] : ['a', 'b', 'c']
  const nodes = cluster.startAll(...names)
  if (policy === 'majority') {
    cluster.runUntil(() => nodes[0].node.inspect().voters.voters.length === 3)
  }
  const [, b] = nodes
  const { bucket, epoch } = rowOf(nodes[0], 'b')
  const heir = nodes.find((at) => at !== b && at.held.some(({ id }) => id === bucket))!
  b.kill()
  const since = cluster.now
  if (accused) {
    const client = cluster.client(heir)
    cluster.runUntil(() => client.call('OC.WITNESS', `${bucket}`, `${epoch}`) === 'PENDING')
  }
  cluster.runUntil(() => heir.primaries.includes(bucket))
  return cluster.now - since
}

describe('a client that gets no answer', () => {
  it('is told where the primary is, by a backup that hears it', () => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a', 'b')
    const { bucket, epoch } = rowOf(a, 'b')
    const client = cluster.client(a)
    expect(client.call('OC.WITNESS', `${bucket}`, `${epoch}`)).toBe('TRY b')
    expect(client.call('OC.WITNESS', `${bucket}`, `${epoch - 1}`)).toBe('TRY b')
    expect(rowOf(a, 'b')).toMatchObject({ bucket, epoch })
  })

  it('is the second witness where two decide alone: the backup does not wait any longer', () => {
    const alone = takeOverMs('available', false)
    const witnessed = takeOverMs('available', true)
    expect(witnessed).toBeLessThan(alone * 0.75)
  })

  it('makes a majority act on suspicion, and leases still run out first', () => {
    const alone = takeOverMs('majority', false)
    const witnessed = takeOverMs('majority', true)
    expect(witnessed).toBeLessThan(alone)
    expect(witnessed).toBeGreaterThanOrEqual(550)
  })

  it.each([
    ['x', '1'],
    ['16', '1'],
    ['0', '-1'],
    ['0', '1e3'],
    ['', '']
  ])('is refused with one line if it names bucket %j and epoch %j', (bucket, epoch) => {
    const cluster = new MiniCluster()
    const [a] = cluster.startAll('a')
    expect(cluster.client(a).call('OC.WITNESS', bucket, epoch)).toBeInstanceOf(RespError)
    expect(cluster.client(a).call('PING')).toBe('PONG')
  })
})
