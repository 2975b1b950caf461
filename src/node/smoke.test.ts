import { expect, it } from 'vitest'
import { MiniCluster } from '../../test/support/mini-cluster.js'
it('smoke', () => {
  const c = new MiniCluster()
  const [a, b] = c.startAll('a', 'b')
  console.log(
    c.now,
    c.posted,
    a.primaries.length,
    a.backups.length,
    b.primaries.length,
    b.backups.length
  )
  const client = c.client(b)
  for (let i = 0; i < 20; i++) expect(client.call('SET', `k${i}`, `v${i}`)).toBe('OK')
  for (let i = 0; i < 20; i++) expect(client.call('GET', `k${i}`)).toBe(`v${i}`)
  c.run(2000)
  console.log(c.differences(), c.now, c.posted)
  c.start('c')
  c.start('d')
  c.run(5000)
  c.run(30000)
  for (const n of c.nodes.values()) { console.log(n.name, n.primaries.length, n.backups.length, n.held.filter((x) => x.role === 'incoming').map((x) => [x.id, x.source, n.node.table.row(x.id)]), n.node.view.transferring, (n.node as any).view.own); console.log(JSON.stringify(n.events.filter((e) => e.kind === 'stage').slice(-3))) }
  for (const n of c.nodes.values()) { n.events.length = 0 }
  c.run(3000)
  for (const n of c.nodes.values()) console.log(n.name, n.events.length)
  const lines: string[] = []
  c.run(3000)
  const d = c.nodes.get('d')!
  console.log(d.node.table.size, Array.from({length:16}, (_, i) => JSON.stringify(d.node.table.row(i))).join('\n'))
})
