import { describe, expect, it } from 'vitest'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'
import { latin1Bytes } from '../../core/bytes.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import { countedName } from './observer.js'

function trio(): { cluster: MiniCluster; client: MiniClient; far: string } {
  const cluster = new MiniCluster()
  const [a, b] = cluster.startAll('a', 'b', 'c')
  return { cluster, client: cluster.client(a), far: cluster.keysOn(b, 1)[0] }
}

/** The arguments of what is in the slow log, newest first. */
function slow(client: MiniClient): unknown[] {
  const entries = client.call('SLOWLOG', 'GET', '-1')
  return Array.isArray(entries) ? entries.map((entry) => (entry as unknown[])[3]) : []
}

describe('the slow log', () => {
  it('has what had to wait for another node, by default from ten milliseconds on', () => {
    const { client, far } = trio()
    client.call('CONFIG', 'SET', 'slowlog-log-slower-than', '1000')
    client.call('SET', far, 'v')
    client.call('PING')
    expect(slow(client)).toEqual([['SET', far, 'v']])
    client.call('CONFIG', 'SET', 'slowlog-log-slower-than', '10000000')
    client.call('SLOWLOG', 'RESET')
    client.call('SET', far, 'v')
    expect(slow(client)).toEqual([])
  })

  it('has everything at a threshold of zero, without secrets, and no more than it may', () => {
    const { client } = trio()
    client.call('CONFIG', 'SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '3')
    for (const key of ['a', 'b', 'c']) client.call('SET', `{x}${key}`, 'y'.repeat(200))
    client.call('AUTH', 'default', 'secret')
    const shown = slow(client)
    expect(shown).toHaveLength(3)
    expect(shown[0]).toEqual(['AUTH', '(redacted)', '(redacted)'])
    expect((shown[1] as string[])[2]).toBe(`${'y'.repeat(128)}... (72 more bytes)`)
  })
})

describe('MONITOR', () => {
  it('shows what others here do until it is closed', () => {
    const { cluster, client, far } = trio()
    const monitor = cluster.client(client.at)
    expect(monitor.call('MONITOR')).toBe('OK')
    client.call('SET', far, '"\n\x01')
    client.call('GET', '{x}a')
    client.call('CONFIG', 'GET', 'save')
    cluster.runUntil(() => monitor.replies.length >= 3)
    const lines = monitor.replies.slice(1).map((line) => (line as string).replace(/^.*?\] /, ''))
    expect(lines).toEqual([`"SET" "${far}" "\\"\\n\\x01"`, '"GET" "{x}a"'])
    monitor.close()
    expect(client.call('GET', '{x}a')).toBeNull()
  })
})

describe('what commands are counted by', () => {
  const name = (...words: string[]): string | undefined =>
    countedName(encodeArguments(words.map(latin1Bytes)))

  it('is their name, or that of their part', () => {
    expect(name('SeT', 'a', 'b')).toBe('set')
    expect(name('CONFIG', 'GET', 'x')).toBe('config|get')
    expect(name('CONFIG')).toBe('config')
    expect(name('nothing')).toBeUndefined()
    expect(name('x'.repeat(500))).toBeUndefined()
    expect(countedName(latin1Bytes('*'))).toBeUndefined()
  })

  it('and how often is told', () => {
    const { client } = trio()
    client.call('CONFIG', 'RESETSTAT')
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) client.call('SET', key, 'v')
    const [shown, counts] = client.call('LATENCY', 'HISTOGRAM', 'set') as [string, unknown[]]
    expect([shown, counts.slice(0, 2)]).toEqual(['set', ['calls', 6]])
    expect(client.call('INFO', 'commandstats') as string).toContain('cmdstat_set:calls=6,')
  })
})
