import { describe, expect, it } from 'vitest'
import { RespError } from '../../wire/resp/reply-value.js'
import { MiniCluster, type MiniClient } from '../../../test/support/mini-cluster.js'

function connect(): MiniClient {
  const cluster = new MiniCluster()
  const [a] = cluster.startAll('a')
  return cluster.client(a)
}

const refused = (name: string, why: string): RespError =>
  new RespError(`ERR CONFIG SET failed (possibly related to argument '${name}') - ${why}`)

describe('settings', () => {
  it('are all checked before any of them is changed', () => {
    const client = connect()
    expect(client.call('CONFIG', 'SET', 'maxmemory', '1mb', 'maxclients', 'many')).toEqual(
      refused('maxclients', "argument couldn't be parsed into an integer")
    )
    expect(client.call('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '0'])
    expect(client.call('CONFIG', 'SET', 'maxmemory', '1mb')).toBe('OK')
    expect(client.call('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '1048576'])
  })

  it.each([
    ['hz', '-1', 'argument must be between 0 and 2147483647 inclusive'],
    ['appendonly', 'maybe', "argument must be 'yes' or 'no'"],
    ['maxmemory', '5 cups', 'argument must be a memory value'],
    ['maxmemory-clients', '101%', 'percentage argument must be less or equal to 100'],
    ['appendfsync', 'x', 'argument(s) must be one of the following: everysec, always, no'],
    ['databases', '2', "can't set immutable config"],
    ['requirepass', 'secret', 'there are no passwords; anybody may connect'],
    ['port', '1', 'Unable to listen on this port. Check server logs.']
  ])('%s cannot be %s', (name, value, why) => {
    expect(connect().call('CONFIG', 'SET', name, value)).toEqual(refused(name, why))
  })

  it('have one value under both names', () => {
    const client = connect()
    client.call('CONFIG', 'SET', 'hash-max-ziplist-entries', '7')
    expect(client.call('CONFIG', 'GET', 'hash-max-listpack-entries')).toEqual([
      'hash-max-listpack-entries',
      '7'
    ])
    const names = ['hash-max-ziplist-entries', '1', 'hash-max-listpack-entries', '2']
    expect(client.call('CONFIG', 'SET', ...names)).toEqual(
      refused('hash-max-listpack-entries', 'duplicate parameter')
    )
  })
})
