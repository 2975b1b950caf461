import { afterEach, expect, test } from 'vitest'
import { Processes, until, type NodeProcess, type Process } from './process.js'

const processes = new Processes()
afterEach(() => processes.end())

async function watch(node: NodeProcess, ...args: string[]): Promise<Process> {
  const watcher = processes.run('watch', ...args, '--node', node.address)
  await until('the watch', () => watcher.stderr.includes(`at ${node.address}\n`))
  return watcher
}

interface Line {
  readonly change: string
  readonly key: string
  readonly bucket: number
  readonly seq: number
}

function linesOf(watcher: Process): Line[] {
  const lines = watcher.stdout.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Line)
}

test('a line an event, of keys on any node, until there are enough', async () => {
  const [a, b] = await processes.cluster(['a', 'b', 'c'])
  const watcher = await watch(a, 'user:*', '--count', '4')
  const writer = await processes.connect(b)
  await writer.call('SET', 'user:1', 'Ada')
  await writer.call('SET', 'other', 'x')
  await writer.call('DEL', 'user:1')
  await writer.call('SET', 'user:2', 'Grace', 'PX', '50')
  expect(await watcher.ended).toEqual({ code: 0, signal: null })
  const lines = watcher.stdout.split('\n').slice(0, -1)
  expect(lines.map((line) => line.replace(/ +\(bucket \d+, write \d+\)$/, '')).sort()).toEqual([
    'deleted  user:1',
    'expired  user:2',
    'set      user:1',
    'set      user:2'
  ])
})

test('it misses nothing when a primary is killed while others write', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  const watcher = await watch(a, '*', '--json')
  const writer = await processes.connect(a)
  const keys = Array.from({ length: 2000 }, (_, i) => `key:${i}`)
  const calls = keys.map((key) =>
    writer.call('SET', key, 'v').then(
      () => key,
      () => undefined
    )
  )
  await calls[500]
  c.signal('SIGKILL')
  const written = (await Promise.all(calls)).filter((key) => key !== undefined)
  expect(written.length).toBeGreaterThan(500)
  await (await processes.connect(b)).call('SET', 'the last', 'v')
  const told = (): Set<string> => new Set(linesOf(watcher).map(({ key }) => key))
  await until('every event', () => written.every((key) => told().has(key)))
  expect(linesOf(watcher).filter(({ change }) => change === 'gap')).toEqual([])
  const last = new Map<number, number>()
  for (const { bucket, seq } of linesOf(watcher)) {
    expect(seq).toBeGreaterThan(last.get(bucket) ?? 0)
    last.set(bucket, seq)
  }
})

test('it goes on at another node when its own dies, and says that something may be missing', async () => {
  const [a, b] = await processes.cluster(['a', 'b', 'c'])
  const watcher = await watch(a, 'k', '--json')
  const writer = await processes.connect(b)
  await writer.call('SET', 'k', '1')
  await until('the first event', () => linesOf(watcher).length === 1)
  await a.kill()
  await until('another node', () => linesOf(watcher).some(({ change }) => change === 'gap'))
  await writer.call('SET', 'k', '2')
  await until('the next event', () => linesOf(watcher).length === 3)
  expect(linesOf(watcher).map(({ change }) => change)).toEqual(['set', 'gap', 'set'])
  watcher.signal('SIGINT')
  await watcher.ended
})

test('nobody there is one line and 1; no pattern is one line and 2', async () => {
  const nobody = processes.run('watch', 'k', '--node', '127.0.0.1:1')
  expect((await nobody.ended).code).toBe(1)
  expect(nobody.stderr).toBe(
    'opencluster watch: cannot reach a node at 127.0.0.1:1: ECONNREFUSED\n'
  )
  const pattern = processes.run('watch')
  expect((await pattern.ended).code).toBe(2)
  expect(pattern.stderr).toBe('opencluster watch: PATTERN: needed\n')
})
