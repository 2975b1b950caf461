/** Reads that a stock cluster client sends to backups, at the port they have of their own. */
import { Cluster, Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { Processes, type NodeProcess } from '../../integration/process.js'

const processes = new Processes()
afterEach(() => processes.end())

function portOf(node: NodeProcess): number {
  return Number(node.address.split(':')[1])
}

type Row = [number, number, ...[string, number, string][]]

/** How many clients were sent elsewhere, and how often a key was read, at all of them. */
async function count(nodes: readonly NodeProcess[]): Promise<{ moved: number; gets: number }> {
  const sum = { moved: 0, gets: 0 }
  for (const node of nodes) {
    const redis = new Redis(portOf(node))
    const text = await redis.info('everything')
    sum.moved += Number(/errorstat_MOVED:count=(\d+)/.exec(text)?.[1] ?? 0)
    sum.gets += Number(/cmdstat_get:calls=(\d+)/.exec(text)?.[1] ?? 0)
    redis.disconnect()
  }
  return sum
}

it('ioredis reads from backups and writes to primaries, without a redirection', async () => {
  const nodes = await processes.cluster(['a', 'b', 'c'], '--replica-port', '0')
  const first = new Redis(portOf(nodes[0]))
  const rows = (await first.call('CLUSTER', 'SLOTS')) as Row[]
  first.disconnect()
  const ports = nodes.map(portOf)
  for (const [, , primary, ...replicas] of rows) {
    expect(ports).toContain(primary[1])
    expect(replicas).toHaveLength(1)
    expect(ports).not.toContain(replicas[0][1])
  }
  const cluster = new Cluster([{ host: '127.0.0.1', port: ports[0] }], { scaleReads: 'slave' })
  for (let i = 0; i < 300; i++) {
    await cluster.set(`key:${i}`, i)
    expect(await cluster.get(`key:${i}`)).toBe(String(i))
  }
  expect(await cluster.incr('key:7')).toBe(8)
  const { moved, gets } = await count(nodes)
  expect(moved).toBe(0)
  expect(gets).toBeGreaterThanOrEqual(300)
  cluster.disconnect()
})

it('a reader at the second port is told where to go when there is no backup, or it wants to write', async () => {
  const [node] = await processes.cluster(['a', 'b'], '--replica-port', '0')
  const aware = new Redis(portOf(node))
  const rows = (await aware.call('CLUSTER', 'SLOTS')) as Row[]
  aware.disconnect()
  const plain = new Redis(portOf(node))
  const mine = rows.find(([, , primary]) => primary[1] !== portOf(node))!
  const reader = new Redis(mine[3][1])
  await reader.readonly()
  let i = 0
  while ((await plain.cluster('KEYSLOT', `k${i}`)) !== mine[0]) i++
  await plain.set(`k${i}`, 'x')
  expect(await reader.get(`k${i}`)).toBe('x')
  await expect(reader.set(`k${i}`, 'y')).rejects.toThrow(/^MOVED/)
  await reader.readwrite()
  await expect(reader.get(`k${i}`)).rejects.toThrow(/^MOVED/)
  expect(await reader.info('replication')).toContain('role:slave')
  plain.disconnect()
  reader.disconnect()
})
