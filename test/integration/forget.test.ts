// `opencluster forget NAME`, as an operator types it: what it strikes, what it refuses, and what
// everybody sees afterwards.
import { afterEach, expect, test } from 'vitest'
import { Processes, until, untilMajority, type NodeProcess, type Process } from './process.js'

const processes = new Processes()
afterEach(() => processes.end())

async function run(verb: string, ...words: string[]): Promise<Process & { code: number | null }> {
  const process = processes.run(verb, ...words)
  const { code } = await process.ended
  return Object.assign(process, { code })
}

const forget = (name: string, node: NodeProcess): ReturnType<typeof run> =>
  run('forget', name, '--node', node.address)

/** The first line of `status`, and the names in its table of nodes. */
async function look(node: NodeProcess): Promise<{ summary: string; names: string[] }> {
  const { code, stdout } = await run('status', '--node', node.address)
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  const rows = lines.slice(3, lines.indexOf('', 3))
  return { summary: lines[0], names: rows.map((row) => row.split(' ')[0]) }
}

test('a dead node is struck with it and gone from status, a living one is not', async () => {
  const [a, b, c] = await processes.cluster(['a', 'b', 'c'])
  await untilMajority([a, b, c])
  const connection = await processes.connect(a)
  expect(await connection.call('SET', 'greeting', 'hello')).toBe('OK')

  const [alive, nobody] = await Promise.all([forget('c', a), forget('zebra', a)])
  expect([alive.code, nobody.code]).toEqual([1, 1])
  expect(alive.stderr).toContain('c is alive; let it leave')
  expect(nobody.stderr).toContain('there is no node named zebra')
  expect(alive.stdout + nobody.stdout).toBe('')

  await c.kill()
  await until('both to miss it', async () => {
    const seen = await Promise.all([a, b].map((node) => node.ownStatus()))
    return seen.every(({ nodes }) => nodes.some(({ state }) => state === 'dead'))
  })
  // Nobody has said that it will not come back, so it is still shown, and still a voter.
  expect(await look(b)).toEqual({
    summary: expect.stringContaining('dead: c') as string,
    names: ['a', 'b', 'c']
  })
  expect((await b.ownStatus()).policy).toBe('majority')

  expect(await forget('c', a)).toMatchObject({ code: 0, stdout: 'c is forgotten\n' })
  // The other one hears of it, and two voters are left, which is what `auto` says of two.
  await until('two voters', async () => {
    const seen = await Promise.all([a, b].map((node) => node.ownStatus()))
    return seen.every(({ policy }) => policy === 'available')
  })
  for (const { summary, names } of await Promise.all([a, b].map(look))) {
    expect(summary).not.toContain('dead')
    expect(names).toEqual(['a', 'b'])
  }
  expect(await connection.call('GET', 'greeting')).toBe('hello')
})
