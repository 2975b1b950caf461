import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { formatAddress, isLoopback, parseAddress } from './address.js'
import { loadSettings, readSecret } from './load.js'
import { envNameOf, keyOf, NODE_OPTIONS } from './options.js'

const folder = mkdtempSync(join(tmpdir(), 'opencluster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const messagesOf = (sources: Parameters<typeof loadSettings>[0]): string[] =>
  loadSettings(sources).problems.map(({ message }) => message)

describe('where settings come from', () => {
  test('nothing given: the defaults', () => {
    const { settings, problems } = loadSettings({})
    expect(problems).toEqual([])
    expect(settings).toMatchObject({ port: 13600, host: '127.0.0.1', join: [], leaveTimeout: 30 })
  })

  test('flags before environment before file before default', () => {
    const config = fileOf('order.json', '{"port": 1, "copies": 3, "buckets": 16, "join": ["a:1"]}')
    const env = { OPENCLUSTER_PORT: '2', OPENCLUSTER_COPIES: '1', OPENCLUSTER_JOIN: 'b:2,[::1]:3' }
    const flags = new Map<string, unknown>([
      ['port', 3],
      ['config', config]
    ])
    const { settings, problems } = loadSettings({ flags, env })
    expect(problems).toEqual([])
    expect(settings).toMatchObject({
      port: 3,
      copies: 1,
      buckets: 16,
      join: ['b:2', '[::1]:3'],
      acks: 'all'
    })
    expect(loadSettings({ env: { OPENCLUSTER_CONFIG: config } }).settings.join).toEqual(['a:1'])
  })

  test('every problem is told, with its place', () => {
    const config = fileOf('bad.json', '{"acks": "some", "colour": 1, "join": [7], "zone": {}}')
    const env = { OPENCLUSTER_CONFIG: config, OPENCLUSTER_PORT: 'x' }
    expect(messagesOf({ env, given: { host: '0.0.0.0', heartbeatMs: 1000 } })).toEqual([
      'OPENCLUSTER_PORT=x: must be a whole number from 0 to 65535',
      `${config}: acks "some": must be all or primary`,
      `${config}: colour: no such option`,
      `${config}: join [7]: must be texts`,
      `${config}: zone {}: must be a text or a number`,
      '--host 0.0.0.0: other machines could join; give --secret-file FILE, or listen on 127.0.0.1',
      '--dead-after-ms 900: must be at least 2 times --heartbeat-ms 1000'
    ])
  })

  test('a file that is missing or no object', () => {
    const missing = join(folder, 'missing.json')
    expect(messagesOf({ given: { config: missing } })).toEqual([
      expect.stringContaining(`${missing}: ENOENT`)
    ])
    expect(messagesOf({ given: { config: fileOf('list.json', '[]') } })).toEqual([
      expect.stringContaining('must be a JSON object')
    ])
    expect(messagesOf({ given: { config: fileOf('half.json', '{') } })).toHaveLength(1)
  })

  test('what Kubernetes says about a service of our name is no port', () => {
    const { settings, problems } = loadSettings({ env: { OPENCLUSTER_PORT: 'tcp://10.0.0.1:1' } })
    expect([settings.port, problems]).toEqual([13600, []])
  })
})

test('names are derived, and none stands for two options', () => {
  expect([envNameOf('dead-after-ms'), keyOf('dead-after-ms')]).toEqual([
    'OPENCLUSTER_DEAD_AFTER_MS',
    'deadAfterMs'
  ])
  const names = Object.keys(NODE_OPTIONS)
  expect(new Set(names.map(keyOf)).size).toBe(names.length)
})

test('a secret is what is in the file, if there is enough of it', () => {
  expect(readSecret(fileOf('secret', '  0123456789abcdef\n')).toString()).toBe('0123456789abcdef')
  expect(() => readSecret(fileOf('short', 'abc\n'))).toThrow('the secret has 3 bytes')
})

test.each([
  ['127.0.0.1:13600', '127.0.0.1', 13600],
  ['[::1]:7', '::1', 7],
  ['db.example:65535', 'db.example', 65535]
])('%s is an address', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port })
  expect(formatAddress({ host, port })).toBe(text)
})

test.each(['', 'a', 'a:', ':1', 'a:0', 'a:65536', '::1:5', 'a b:1', '[::1]', 'a:-1'])(
  '%j is none',
  (text) => expect(parseAddress(text)).toBeUndefined()
)

test('loopback is only this machine', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost', '::ffff:127.0.0.1'].every(isLoopback)).toBe(
    true
  )
  expect(['0.0.0.0', '::', '128.0.0.1', '127.0.0.1.example.org'].some(isLoopback)).toBe(false)
})
