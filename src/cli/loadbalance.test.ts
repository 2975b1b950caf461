import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from './main.js'
import { LOADBALANCE_OPTIONS, readPolicyFlags, translateSpelling } from './loadbalance-options.js'
import { parseOptions } from './options.js'

const policyOf = (...argv: string[]): unknown => {
  const { values, problems } = parseOptions(LOADBALANCE_OPTIONS, translateSpelling(argv))
  expect(problems).toEqual([])
  return readPolicyFlags(values)
}

describe("document 004's names", () => {
  test('work as words and as letters', () => {
    const expected = {
      hostsMax: 9,
      hostsMin: 2,
      intervalMs: 30_000,
      addPerPass: 3,
      jobWaitMs: 600_000,
      cooldownUpMs: 120_000,
      cooldownDownMs: 120_000,
      lookbackMs: 7_200_000,
      billing: { kind: 'hour', killAfterMinutes: 50 }
    }
    const words =
      '--max_nodes 9 --min_nodes 2 --interval 30 --add_nodes_per_iter 3 --job_wait_time 600 --stabilization_time 120 --lookback_window 2 --kill_after 50'
    const letters = '-m 9 -n 2 -i 30 -a 3 -w 600 -s 120 -l 2 -k 50'
    expect(policyOf(...words.split(' '))).toEqual(expected)
    expect(policyOf(...letters.split(' '))).toEqual(expected)
    expect(policyOf('--add_nodes_per_iteration=3')).toEqual({ addPerPass: 3 })
  })

  test('-K ends the cluster and lowers the minimum, unless one is given', () => {
    expect(policyOf('-K')).toEqual({ killCluster: true, hostsMin: 0 })
    expect(policyOf('-K', '-n', '1')).toEqual({ killCluster: true, hostsMin: 1 })
  })

  test('values with underscores are left alone', () => {
    expect(translateSpelling(['--config', 'a_b.json', '--state_dir=/x_y'])).toEqual([
      '--config',
      'a_b.json',
      '--state-dir=/x_y'
    ])
  })
})

describe('the verb', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-bal-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function call(
    ...argv: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const written = { stdout: '', stderr: '' }
    const stream = (name: 'stdout' | 'stderr') => ({
      write: (text: string) => (written[name] += text)
    })
    const output = { stdout: stream('stdout'), stderr: stream('stderr') }
    const code = await run(argv, output)
    return { code, ...written }
  }

  const facts = (): string => {
    const path = join(folder, 'facts.json')
    const job = { id: 1, submittedAt: Date.now() - 3_600_000 }
    writeFileSync(path, JSON.stringify({ hosts: [{ name: 'a', slots: 1, used: 1 }], jobs: [job] }))
    return `cat ${path}`
  }
  const common = (): string[] => ['--state-dir', join(folder, 'state'), '--provider', 'process']

  test('explains every rule, and a dry run leaves nothing behind', async () => {
    const source = ['--source', 'command', '--source-command', facts()]
    const { code, stdout } = await call(
      'bal',
      'lab',
      ...source,
      ...common(),
      '--once',
      '--dry-run',
      '--explain'
    )
    expect(code).toBe(0)
    for (const rule of ['longest-wait', 'below-maximum', 'not-master', 'whole-cluster-idle']) {
      expect(stdout).toContain(rule)
    }
    expect(stdout).toContain('=> add 1 host')
    expect(readdirSync(folder)).toEqual(['facts.json'])
  })

  test('a decision as JSON', async () => {
    const source = ['--source', 'command', '--source-command', facts()]
    const { stdout } = await call(
      'loadbalance',
      'lab',
      ...source,
      ...common(),
      '--once',
      '--dry-run',
      '--json'
    )
    expect(JSON.parse(stdout)).toMatchObject({ actions: [{ kind: 'add', count: 1 }] })
  })

  test('flags stand in the file too, by either spelling, and the command line wins', async () => {
    const path = join(folder, 'config.json')
    const options = { max_nodes: 1, source: 'command', 'source-command': facts(), once: true }
    const write = (more: object): void =>
      writeFileSync(
        path,
        JSON.stringify({ copies: 2, elastic: { lab: { options: { ...options, ...more } } } })
      )
    write({ 'dry-run': true })
    const full = await call('bal', 'lab', '--config', path, ...common())
    expect(full.stdout).toContain('1 host, and at most 1')
    const more = await call('bal', 'lab', '--config', path, ...common(), '-m', '3')
    expect(more.stdout).toContain('would add 1 host')
    write({ max_nodes: 'many', once: 3, config: 'x', nodes: [] })
    const wrong = await call('bal', 'lab', '--config', path, ...common())
    expect(wrong.code).toBe(2)
    for (const text of [
      '--max-nodes many: must be',
      'config: this is the file',
      'nodes: must be'
    ]) {
      expect(wrong.stderr).toContain(`options: ${text}`)
    }
  })

  test('the prompt policy asks for as many hosts as the work is worth', async () => {
    const path = join(folder, 'facts.json')
    const jobs = [{ id: 1, tasks: 4, submittedAt: Date.now() - 400_000 }]
    writeFileSync(path, JSON.stringify({ hosts: [{ name: 'a', slots: 1, used: 1 }], jobs }))
    const source = ['--source', 'command', '--source-command', `cat ${path}`]
    const once = ['--once', '--dry-run']
    const plain = await call('bal', 'lab', ...source, ...common(), ...once)
    expect(plain.stdout).toContain('nothing is changed')
    const prompt = await call('bal', 'lab', ...source, ...common(), ...once, '--policy', 'prompt')
    expect(prompt.stdout).toContain('would add 4 hosts')
  })

  test('a pass without facts fails', async () => {
    const source = ['--source', 'command', '--source-command', 'echo broken >&2; exit 3']
    const { code, stdout } = await call('bal', 'lab', ...source, ...common(), '--once')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^nothing is changed: .*exit code 3: broken\n$/)
  })

  test.each([
    [['bal'], 'CLUSTER: needed'],
    [['bal', 'a/b', '--source', 'command'], "a/b: a cluster's name"],
    [['bal', 'lab'], 'source.kind: which scheduler is not said'],
    [['bal', 'lab', '--max_nodes', '0'], '--max-nodes 0: must be'],
    [['bal', 'lab', '--config', '/nonexistent'], '/nonexistent: ENOENT'],
    [['bal', 'lab', '--source', 'command', '--provider', 'process'], 'source.command: the program']
  ])('%j is wrong usage', async (argv, message) => {
    const { code, stderr } = await call(...argv)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})
