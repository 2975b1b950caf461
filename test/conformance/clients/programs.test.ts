/** The programs that come with Redis, as people type them, at three real nodes. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Processes } from '../../integration/process.js'
import { findRedisServer } from '../redis-server.js'

const FOLDER = '/usr/bin/'
const RUN_MS_MAX = 60_000
const processes = new Processes()
let port = ''

function run(program: string, ...words: string[]): string {
  const { stdout, stderr, status } = spawnSync(`${FOLDER}${program}`, ['-p', port, ...words], {
    encoding: 'utf8',
    timeout: RUN_MS_MAX
  })
  expect(status, stdout + stderr).toBe(0)
  return stdout + stderr
}

// They are in the package that redis-server needs.
const isHere = findRedisServer() !== undefined && existsSync(`${FOLDER}redis-benchmark`)

describe.runIf(isHere || process.env['CI'] === 'true')('the programs of Redis', () => {
  beforeAll(async () => {
    const nodes = await processes.cluster(['a', 'b', 'c'])
    port = nodes[0].address.split(':')[1]
  }, 150_000)
  afterAll(() => processes.end())

  it.each([
    ['one node', []],
    ['one node, in pipelines', ['-P', '16']],
    ['one node, in RESP3', ['-3']],
    ['all of them', ['--cluster']],
    ['all of them, in pipelines', ['--cluster', '-P', '16']]
  ])('redis-benchmark at %s', (_, more) => {
    const tests = 'ping,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100'
    const size = ['-n', '300', '-c', '10', '-r', '1000', '--csv', '-t', tests]
    const said = run('redis-benchmark', ...size, ...more)
    expect(said).not.toMatch(/error|warn|MOVED|CROSSSLOT|CLUSTERDOWN/i)
    const rows = [...said.matchAll(/^"([^"]+)","([\d.]+)"/gm)]
    const names = rows.map(([, name]) => name.split(' ')[0])
    for (const test of tests.split(',')) expect(names).toContain(nameOf(test))
    for (const [row, , perSecond] of rows) expect(Number(perSecond), row).toBeGreaterThan(0)
  })

  it('redis-benchmark with several keys that live apart', () => {
    const said = run(
      'redis-benchmark',
      '-n',
      '300',
      '-c',
      '10',
      '-r',
      '1000',
      '--csv',
      '-t',
      'mset'
    )
    expect(said).toMatch(/"MSET \(10 keys\)","[\d.]+"/)
  })

  it('redis-cli checks the cluster and finds all slots', () => {
    const said = run('redis-cli', '--cluster', 'check', `127.0.0.1:${port}`)
    expect(said).toContain('[OK] All nodes agree about slots configuration.')
    expect(said).toContain('[OK] All 16384 slots covered.')
    expect(run('redis-cli', '--cluster', 'info', `127.0.0.1:${port}`)).toMatch(/in 3 masters/)
  })

  it('redis-cli looks through all keys', () => {
    run('redis-cli', 'FLUSHALL')
    run('redis-cli', 'MSET', ...Array.from({ length: 50 }, (_, i) => [`scan:${i}`, 'x']).flat())
    run('redis-cli', 'RPUSH', 'a-list', ...'a b c d e f g h'.split(' '))
    const names = run('redis-cli', '--scan', '--pattern', 'scan:*').trim().split('\n')
    expect(new Set(names).size).toBe(50)
    expect(names).toHaveLength(50)
    const big = run('redis-cli', '--bigkeys')
    expect(big).toContain('Sampled 51 keys in the keyspace!')
    expect(big).toMatch(/Biggest +list found .*a-list.* has 8 items/)
    expect(run('redis-cli', '--memkeys')).toContain('Sampled 51 keys in the keyspace!')
  })

  it('redis-cli follows redirections once it has asked for the topology', () => {
    const keys = Array.from({ length: 20 }, (_, i) => `moved:${i}`)
    const lines = ['CLUSTER SLOTS', ...keys.map((key) => `SET ${key} ${key}`)]
    const { stdout } = spawnSync(`${FOLDER}redis-cli`, ['-c', '-p', port], {
      input: `${lines.join('\n')}\n`,
      encoding: 'utf8',
      timeout: RUN_MS_MAX
    })
    expect(stdout.match(/^OK$/gm)).toHaveLength(20)
    expect(stdout).not.toContain('MOVED')
    for (const key of keys) expect(run('redis-cli', 'GET', key)).toBe(`${key}\n`)
  })
})

/** What redis-benchmark calls a test in its table. */
function nameOf(test: string): string {
  if (test === 'ping') return 'PING_INLINE'
  return test.toUpperCase()
}
