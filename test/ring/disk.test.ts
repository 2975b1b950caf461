/** Nodes with disks, stopped, wiped and started again: what was acknowledged is there, and what was missed arrives. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { Processes, until, type NodeProcess } from '../integration/process.js'
import { call, configOf, untilSettled } from './ring-process.js'

const processes = new Processes()
const folder = mkdtempSync(join(tmpdir(), 'opencluster-ring-'))
afterEach(() => processes.end())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const diskOf = (name: string): string => join(folder, name)

function start(name: string, ...args: string[]): Promise<NodeProcess> {
  return processes.start(name, '--placement', 'ring', '--data-dir', diskOf(name), ...args)
}

async function startAll(names: readonly string[], ...args: string[]): Promise<NodeProcess[]> {
  const nodes = [await start(names[0], ...args)]
  for (const name of names.slice(1)) {
    nodes.push(await start(name, '--join', nodes[0].address, ...args))
  }
  await untilSettled(nodes)
  return nodes
}

const put = async (node: NodeProcess, id: string, body: string, quorum = ''): Promise<number> =>
  (await call(node, 'PUT', `/v0/entity?id=${id}${quorum}`, { body })).status

async function read(node: NodeProcess, id: string, quorum = ''): Promise<[number, string]> {
  const { status, body } = await call(node, 'GET', `/v0/entity?id=${id}${quorum}`)
  return [status, status === 200 ? body.toString() : '']
}

it('has its data after a stop, and begins anew where its folder was deleted', async () => {
  let node = await start('one')
  for (let i = 0; i < 100; i++) expect(await put(node, `k${i}`, `v${i}`)).toBe(201)
  expect((await call(node, 'DELETE', '/v0/entity?id=k0')).status).toBe(202)
  await node.kill()
  node = await start('one')
  expect(await read(node, 'k0')).toEqual([404, ''])
  for (let i = 1; i < 100; i++) expect(await read(node, `k${i}`)).toEqual([200, `v${i}`])
  await node.kill()
  rmSync(diskOf('one'), { recursive: true })
  node = await start('one')
  expect(await read(node, 'k1')).toEqual([404, ''])
  expect(await put(node, 'k1', 'again')).toBe(201)
  expect(existsSync(diskOf('one'))).toBe(true)
})

it('lets no second process take its folder', async () => {
  await start('taken')
  const second = processes.run('start', '--placement', 'ring', '--data-dir', diskOf('taken'))
  await second.ended
  expect(second.stderr).toContain('is in use by process')
})

it('answers with what it missed: two nodes, one of them away', async () => {
  const [a, b] = await startAll(['m1', 'm2'])
  expect(await put(a, 'k', 'old', '&ack=2&from=2')).toBe(201)
  expect(await put(a, 'gone', 'old', '&ack=2&from=2')).toBe(201)
  await b.kill()
  await until('a write to one', async () => (await put(a, 'k', 'new', '&ack=1&from=2')) === 201)
  expect((await call(a, 'DELETE', '/v0/entity?id=gone&ack=1&from=2')).status).toBe(202)
  expect((await configOf(a)).progress.hints).toBeGreaterThan(0)
  const again = await start('m2', '--join', a.address)
  // What was kept for it was in before it said that it serves: its own copy alone is up to date.
  const own = await call(again, 'GET', '/v0/entities?start=a')
  expect(own.body.toString()).toBe('k\nnew')
  await untilSettled([a, again])
  for (const node of [a, again]) {
    expect(await read(node, 'k', '&ack=2&from=2')).toEqual([200, 'new'])
    expect(await read(node, 'gone', '&ack=2&from=2')).toEqual([404, ''])
  }
})

it('keeps hints through a restart of the one that keeps them', async () => {
  const names = ['h1', 'h2', 'h3']
  const [a, b, c] = await startAll(names, '--copies', '3')
  await c.kill()
  await until('a write to two', async () => (await put(a, 'k', 'v', '&ack=2&from=3')) === 201)
  await until('a hint', async () => (await configOf(a)).progress.hints > 0)
  await a.kill()
  const first = await start('h1', '--join', b.address)
  expect((await configOf(first)).progress.hints).toBeGreaterThan(0)
  const third = await start('h3', '--join', b.address)
  await untilSettled([first, b, third])
  await until('the end of the hint', async () => (await configOf(first)).progress.hints === 0)
  expect((await call(third, 'GET', '/v0/entities?start=k')).body.toString()).toBe('k\nv')
})

it('is there again after all of it was stopped at once', async () => {
  const names = ['w1', 'w2', 'w3', 'w4', 'w5']
  const nodes = await startAll(names, '--copies', '3')
  for (let i = 0; i < 200; i++) expect(await put(nodes[i % 5], `k${i}`, `v${i}`)).toBe(201)
  await Promise.all(nodes.map((node) => node.kill()))
  const first = await start('w1')
  const others = await Promise.all(
    names.slice(1).map((name) => start(name, '--join', first.address))
  )
  const again = [first, ...others]
  await untilSettled(again)
  for (let i = 0; i < 200; i++) expect(await read(again[i % 5], `k${i}`)).toEqual([200, `v${i}`])
  expect(Object.keys((await configOf(first)).urlToHash)).toHaveLength(5)
})

it('is filled from the others where only its disk was lost', async () => {
  const [a, b, c] = await startAll(['l1', 'l2', 'l3'], '--copies', '3')
  for (let i = 0; i < 100; i++) expect(await put(a, `k${i}`, `v${i}`)).toBe(201)
  await c.kill()
  rmSync(diskOf('l3'), { recursive: true })
  const again = await start('l3', '--join', a.address)
  await untilSettled([a, b, again])
  for (let i = 0; i < 100; i++) {
    expect(await read(again, `k${i}`, '&ack=3&from=3')).toEqual([200, `v${i}`])
  }
  expect((await call(again, 'GET', '/v0/entities?start=k')).body.length).toBeGreaterThan(100)
})

it('holds nothing after it has left, and may come back as a new node', async () => {
  const [a, b] = await startAll(['r1', 'r2'])
  for (let i = 0; i < 50; i++) expect(await put(a, `k${i}`, `v${i}`)).toBe(201)
  expect((await call(b, 'POST', '/v0/maindeletenode')).status).toBe(200)
  await b.ended
  expect(await put(a, 'k0', 'changed')).toBe(201)
  const again = await start('r2', '--join', a.address)
  await untilSettled([a, again])
  expect(await read(again, 'k0')).toEqual([200, 'changed'])
  for (let i = 1; i < 50; i++) expect(await read(again, `k${i}`)).toEqual([200, `v${i}`])
})
