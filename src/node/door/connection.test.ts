import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../../core/bytes.js'
import { RespError } from '../../wire/resp/reply-value.js'
import { encodeArguments } from '../../wire/resp/request-writer.js'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'

function trio(): { cluster: MiniCluster; client: MiniClient; other: MiniClient } {
  const cluster = new MiniCluster()
  const [a] = cluster.startAll('a', 'b', 'c')
  return { cluster, client: cluster.client(a), other: cluster.client(a) }
}

function encodeWords(...words: string[]): Uint8Array {
  return encodeArguments(words.map(latin1Bytes))
}

function bytesOf(info: string): { input: number; output: number } {
  const [, input, output] =
    /total_net_input_bytes:(\d+)\r\ntotal_net_output_bytes:(\d+)\r/.exec(info) ?? []
  return { input: Number(input), output: Number(output) }
}

describe('a conversation', () => {
  it('changes its protocol behind the commands before it', () => {
    const { cluster, client } = trio()
    for (let i = 0; i < 20; i++) client.send('HGETALL', `hash:${i}`)
    client.send('HELLO', '3')
    for (let i = 0; i < 20; i++) client.send('HGETALL', `hash:${i}`)
    cluster.runUntil(() => client.replies.length === 41)
    expect(client.replies.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => []))
    expect(client.replies[20]).toBeInstanceOf(Map)
    expect(client.replies.slice(21)).toEqual(Array.from({ length: 20 }, () => new Map()))
  })

  it('ends with QUIT behind the replies that are under way, and nothing after it is executed', () => {
    const { cluster, client, other } = trio()
    for (let i = 0; i < 20; i++) client.send('SET', `key:${i}`, 'x')
    client.send('QUIT')
    client.send('SET', 'after', 'x')
    expect(client.hungUp).toBe(false)
    cluster.run(50)
    expect(client.replies).toEqual(Array.from({ length: 21 }, () => 'OK'))
    expect(client.hungUp).toBe(true)
    expect(other.call('EXISTS', 'after')).toBe(0)
  })

  it('without replies has none, also for what goes elsewhere, until it wants them again', () => {
    const { cluster, client } = trio()
    client.send('CLIENT', 'REPLY', 'OFF')
    for (let i = 0; i < 20; i++) client.send('SET', `key:${i}`, String(i))
    client.send('CLIENT', 'REPLY', 'ON')
    client.send('CLIENT', 'REPLY', 'SKIP')
    client.send('GET', 'key:1')
    client.send('GET', 'key:2')
    cluster.run(50)
    expect(client.replies).toEqual(['OK', '2'])
    expect(client.call('GET', 'key:3')).toBe('3')
  })

  it('waits for the backups of what was written before WAIT', () => {
    const { cluster, client } = trio()
    for (let i = 0; i < 20; i++) client.send('SET', `key:${i}`, String(i))
    client.send('WAIT', '1', '0')
    client.send('PING')
    cluster.run(50)
    expect(client.replies.slice(20)).toEqual([1, 'PONG'])
  })

  it('can be ended by another', () => {
    const { client, other } = trio()
    const id = other.call('CLIENT', 'ID') as number
    expect(client.call('CLIENT', 'KILL', 'ID', String(id))).toBe(1)
    expect(other.hungUp).toBe(true)
    expect(client.call('CLIENT', 'LIST')).toMatch(/^id=\d+ addr=.* resp=2 lib-name= lib-ver=\n$/)
    expect(client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no')).toBe(1)
    expect(client.hungUp).toBe(true)
  })

  it('pauses all, or writes only', () => {
    const { cluster, client, other } = trio()
    expect(client.call('CLIENT', 'PAUSE', '500', 'WRITE')).toBe('OK')
    const [here] = cluster.keysOn(client.at, 1)
    other.send('GET', here)
    other.send('SET', here, 'x')
    cluster.run(400)
    expect(other.replies).toEqual([null])
    cluster.run(300)
    expect(other.replies).toEqual([null, 'OK'])
    expect(client.call('CLIENT', 'PAUSE', '500')).toBe('OK')
    other.send('GET', here)
    cluster.run(400)
    expect(other.replies).toHaveLength(2)
    cluster.run(300)
    expect(other.replies).toEqual([null, 'OK', 'x'])
    expect(client.call('CLIENT', 'PAUSE', '5000', 'WRITE')).toBe('OK')
    other.send('SET', here, 'y')
    expect(client.call('CLIENT', 'UNPAUSE')).toBe('OK')
    cluster.run(100)
    expect(other.replies).toHaveLength(4)
  })

  it('is counted in bytes', () => {
    const cluster = new MiniCluster()
    const client = cluster.client(cluster.start('a'))
    const first = client.call('INFO', 'stats') as string
    const value = 'v'.repeat(1000)
    expect(client.call('SET', 'k', value)).toBe('OK')
    const [before, after] = [first, client.call('INFO', 'stats') as string].map(bytesOf)
    const asked = [...encodeWords('SET', 'k', value), ...encodeWords('INFO', 'stats')].length
    expect(after.input - before.input).toBe(asked)
    const told = `$${first.length}\r\n${first}\r\n+OK\r\n`
    expect(after.output - before.output).toBe(told.length)
  })

  it('is told what it said wrong', () => {
    const { client } = trio()
    expect(client.call('SELECT', '1')).toEqual(
      new RespError('ERR SELECT is not allowed in cluster mode')
    )
    expect(client.call('INFO', 'replication')).toMatch(/^# Replication\r\nrole:master\r\n/)
    expect(client.call('INFO')).toContain('\r\nloading:0\r\n')
  })
})
