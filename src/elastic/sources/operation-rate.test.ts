import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OperationRate } from './operation-rate.js'

let server: Server
let http: string
/** One door stands for all nodes. */
let answer: string

beforeEach(async () => {
  server = createServer((_request, response) => void response.end(answer))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  http = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.close()
  server.closeAllConnections()
})

const count = (strings: number, hashes: number): string =>
  [
    '# TYPE opencluster_operations_total counter',
    `opencluster_operations_total{family="string"} ${strings}`,
    `opencluster_operations_total{family="hash"} ${hashes}`,
    'opencluster_requests_total 999',
    ''
  ].join('\n')

test('operations a second of all nodes, once each was asked twice', async () => {
  const rate = new OperationRate(1000)
  const nodes = [
    { name: 'a', http },
    { name: 'b', http }
  ]
  answer = count(100, 10)
  expect(await rate.read(nodes, 1000)).toBeUndefined()
  answer = count(300, 20)
  expect(await rate.read(nodes, 3000)).toBe(210)
  expect(await rate.read([...nodes, { name: 'c', http }], 4000)).toBeUndefined()
  answer = count(5, 0)
  expect(await rate.read(nodes, 5000)).toBeUndefined()
})

test('whoever does not say it is named', async () => {
  const rate = new OperationRate(1000)
  answer = 'opencluster_requests_total 999\n'
  await expect(rate.read([{ name: 'a', http }], 1)).rejects.toThrow('a does not count')
  await expect(rate.read([{ name: 'a', http: null }], 1)).rejects.toThrow('a has no HTTP door')
  const gone = [{ name: 'a', http: '127.0.0.1:1' }]
  await expect(rate.read(gone, 1)).rejects.toThrow('a does not say how many operations it did')
})
