/**
 * The same scripts to a real Redis and to one node of three of ours, in RESP2 and RESP3, and no difference in the
 * replies. What is between the nodes is virtual; what goes over the door is every byte.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../../src/core/bytes.js'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import { ClusterDoor } from './cluster-door.js'
import { Connection, findRedisServer, useRedisServer } from './redis-server.js'
import { readScript, type Comparison } from './script.js'

const FOLDER = new URL('./scripts/', import.meta.url)
const path = findRedisServer()
const server = useRedisServer(path)

function parse(reply: string): ReplyValue {
  let value: ReplyValue = null
  const parser = new ReplyParser({ onReply: (parsed) => (value = parsed), payload: 'bytes' })
  parser.push(latin1Bytes(reply))
  return value
}

function sorted(value: ReplyValue): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (value instanceof Set) return ['set', sorted([...value])]
  if (value instanceof Map) return ['map', sorted([...value].flat())]
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(sorted(item))).sort()
  return value
}

/** What must be equal of a reply. */
function essence(reply: string, comparison: Comparison): unknown {
  if (comparison === 'exact') return reply
  if (comparison === 'kind') return reply.slice(0, 1)
  return [reply.slice(0, 1), sorted(parse(reply))]
}

describe.skipIf(path === undefined)('one node of three and Redis answer alike', () => {
  const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))
  it.each(scripts.flatMap((name) => [2, 3].map((protocol) => [name, protocol] as const)))(
    '%s in RESP%i',
    async (name, protocol) => {
      const theirs = await Connection.open(server().port)
      const ours = new ClusterDoor('a', 'b', 'c').client()
      const differences: string[] = []
      const hello = ['HELLO', String(protocol)]
      ours.exchange(hello)
      await theirs.send(hello)
      await theirs.send(['FLUSHALL'])
      for (const { args, comparison } of readScript(readFileSync(new URL(name, FOLDER), 'utf8'))) {
        // Scripts about the conversation change it; each line begins with the protocol of the test.
        const [our, their] = [ours.exchange(args), await theirs.send(args)]
        if (
          JSON.stringify(essence(our, comparison)) !== JSON.stringify(essence(their, comparison))
        ) {
          differences.push(
            `${args.join(' ').slice(0, 80)}\n  ours   ${JSON.stringify(our)}\n  theirs ${JSON.stringify(their)}`
          )
        }
        if (args[0] === 'HELLO' || args[0] === 'RESET') {
          ours.exchange(hello)
          await theirs.send(hello)
        }
      }
      theirs.close()
      expect(differences.join('\n'), 'differences').toBe('')
    }
  )
})
