import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MiniCluster } from '../../test/support/mini-cluster.js'
import { latin1Bytes } from '../core/bytes.js'
import { RespError } from '../wire/resp/reply-value.js'
import { encodeArguments } from '../wire/resp/request-writer.js'

const resp = (...words: string[]): string =>
  String.fromCharCode(...encodeArguments(words.map(latin1Bytes)))

const key = fc.integer({ min: 0, max: 30 }).map((number) => `key:${number}`)
const command = fc.oneof(
  fc.tuple(key, fc.string({ maxLength: 90 })).map(([name, text]) => resp('SET', name, text)),
  key.map((name) => resp('GET', name)),
  key.map((name) => resp('INCR', name)),
  key.map((name) => resp('DEL', name)),
  fc.tuple(key, key).map(([one, other]) => resp('MGET', one, other)),
  key.map((name) => `set ${name} "quoted \\"twice\\""\r\n`),
  fc.constantFrom(
    resp('PING'),
    resp('GET'),
    resp('NONSENSE', 'x'),
    '*0\r\n',
    '\r\n',
    'ECHO "a b"\n'
  )
)

const plain = (reply: unknown): unknown => (reply instanceof RespError ? reply.text : reply)

describe('looking ahead', () => {
  it('changes no reply, however the commands are cut into pieces', () => {
    const cutLength = fc.integer({ min: 1, max: 700 })
    fc.assert(
      fc.property(
        fc.array(command, { minLength: 1, maxLength: 60 }),
        fc.array(cutLength, { minLength: 1, maxLength: 20 }),
        fc.boolean(),
        (commands, cuts, withBackup) => {
          const cluster = new MiniCluster()
          const [first] = cluster.startAll('a', ...(withBackup ? ['b'] : []))
          const single = new MiniCluster()
          const alone = single.client(single.start('a'))
          for (const each of commands) alone.sendRaw(latin1Bytes(each))
          const bytes = latin1Bytes(commands.join(''))
          const client = cluster.client(first)
          for (let from = 0, i = 0; from < bytes.length; i++) {
            const to = Math.min(bytes.length, from + cuts[i % cuts.length])
            client.sendRaw(bytes.slice(from, to))
            from = to
          }
          cluster.runUntil(() => client.replies.length === alone.replies.length)
          expect(client.replies.map(plain)).toEqual(alone.replies.map(plain))
        }
      ),
      { numRuns: 60 }
    )
  })

  it('executes what a client sent before it went, in the same turn', () => {
    const cluster = new MiniCluster()
    const a = cluster.start('a')
    const { session } = cluster.client(a)
    a.input((node, now) => {
      node.request(session, latin1Bytes(resp('SET', 'key', 'sent')), now)
      node.close(session, now)
    })
    expect(cluster.client(a).call('GET', 'key')).toBe('sent')
  })

  it('gives a backup the same items in batches of any length', () => {
    const cluster = new MiniCluster()
    const [a, b] = cluster.startAll('a', 'b')
    const keys = cluster.keysOn(a, 40)
    const client = cluster.client(a)
    const writes = keys.flatMap((name, i) => [
      resp('SET', name, `value ${i}`),
      resp('APPEND', name, ' and more'),
      ...(i % 3 === 0 ? [resp('DEL', name)] : [])
    ])
    client.sendRaw(latin1Bytes(writes.join('')))
    cluster.runUntil(() => client.replies.length === writes.length)
    a.kill()
    const other = cluster.client(b)
    const read = (name: string): unknown => other.call('GET', name)
    cluster.runUntil(() => {
      other.send('GET', keys[1])
      cluster.run(200)
      return other.replies.at(-1) === 'value 1 and more'
    })
    expect(keys.map(read)).toEqual(keys.map((_, i) => (i % 3 === 0 ? null : `value ${i} and more`)))
  })
})
