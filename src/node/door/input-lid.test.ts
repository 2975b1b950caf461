import { expect, it } from 'vitest'
import { latin1Bytes } from '../../core/bytes.js'
import { MiniCluster } from '../../../test/support/mini-cluster.js'

it('the client with most goes when all together have sent too much that is not complete', () => {
  const cluster = new MiniCluster({ maxInputBytes: 1_000_000 })
  const [a] = cluster.startAll('a')
  const clients = Array.from({ length: 5 }, () => cluster.client(a))
  clients.forEach((client, i) => {
    client.sendRaw(latin1Bytes('*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000000\r\n'))
    client.sendRaw(new Uint8Array(50_000 * (i + 1)))
  })
  cluster.run(2000)
  expect(clients.filter(({ hungUp }) => hungUp).length).toBeGreaterThan(0)
  expect(clients[4].hungUp).toBe(true)
  expect(clients[4].replies[0]).toMatchObject({
    text: 'ERR Protocol error: too much input at once'
  })
  expect(clients[0].hungUp).toBe(false)
  expect(cluster.client(a).call('PING')).toBe('PONG')
})
