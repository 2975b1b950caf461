/**
 * COMMAND DOCS of a real Redis and ours: the texts are ours, the facts are the same. Compared are the version that had a
 * command first, its group, whether it is deprecated, and its arguments without their names: those are ours as well.
 */
import { describe, expect, it } from 'vitest'
import { COMMAND_SPECS } from '../../src/commands/command-specs.js'
import { latin1Bytes } from '../../src/core/bytes.js'
import { ReplyParser } from '../../src/wire/resp/reply-parser.js'
import { ClusterDoor } from './cluster-door.js'
import { Connection, findRedisServer, useRedisServer } from './redis-server.js'

type Fields = ReadonlyMap<string, unknown>

/** Where we take more than Redis 7.0 does or says: numbers with decimals, no members at all, words of later versions. */
const WEIGHTS = '[WEIGHTS double...] [AGGREGATE (SUM|MIN|MAX)]'
const OTHERWISE: Readonly<Record<string, string>> = {
  'client|kill':
    '(string|((ID integer|TYPE (NORMAL|MASTER|SLAVE|REPLICA|PUBSUB)|USER string|ADDR string|LADDR string|SKIPME string))...)',
  'client|list': '[(TYPE (NORMAL|MASTER|REPLICA|PUBSUB)|ID integer...)]',
  'command|getkeys': 'string string...',
  'command|getkeysandflags': 'string string...',
  debug: 'string [string...]',
  geohash: 'key [string...]',
  geopos: 'key [string...]',
  pfmerge: 'key [key...]',
  zincrby: 'key double string',
  zinter: `integer key... ${WEIGHTS} [WITHSCORES]`,
  zinterstore: `key integer key... ${WEIGHTS}`,
  zrank: 'key string [WITHSCORE]',
  zrevrank: 'key string [WITHSCORE]',
  zunion: `integer key... ${WEIGHTS} [WITHSCORES]`,
  zunionstore: `key integer key... ${WEIGHTS}`
}

const path = findRedisServer()
const server = useRedisServer(path)

function parse(reply: string): ReadonlyMap<string, Fields> {
  let value: unknown
  const parser = new ReplyParser({ onReply: (parsed) => (value = parsed) })
  parser.push(latin1Bytes(reply))
  return value as ReadonlyMap<string, Fields>
}

/** As people write it; a block needs no parentheses unless there are several. */
function write(argument: Fields): string {
  const flags = (argument.get('flags') ?? new Set()) as ReadonlySet<string>
  const parts = ((argument.get('arguments') ?? []) as readonly Fields[]).map(write)
  const type = argument.get('type') as string
  const token = argument.get('token') as string | undefined
  const isSeveral = flags.has('multiple')
  let text = type
  if (type === 'pure-token') text = ''
  else if (type === 'oneof') text = `(${parts.join('|')})`
  else if (type === 'block') text = parts.join(' ')
  if (isSeveral && !flags.has('multiple_token'))
    text = parts.length > 1 ? `(${text})...` : `${text}...`
  if (token !== undefined) text = text === '' ? token : `${token} ${text}`
  if (flags.has('multiple_token')) text = `(${text})...`
  return flags.has('optional') ? `[${text}]` : text
}

function flatten(docs: ReadonlyMap<string, Fields>): Map<string, Fields> {
  return new Map(
    [...docs].flatMap(([name, doc]) => [
      [name, doc] as const,
      ...((doc.get('subcommands') ?? new Map()) as ReadonlyMap<string, Fields>)
    ])
  )
}

function syntaxOf(doc: Fields): string {
  return ((doc.get('arguments') ?? []) as readonly Fields[]).map(write).join(' ')
}

function factsOf(docs: Iterable<readonly [string, Fields]>): Record<string, unknown> {
  const fields = ['since', 'group', 'deprecated_since']
  return Object.fromEntries(
    [...docs].map(([name, doc]) => [name, fields.map((field) => doc.get(field))])
  )
}

describe.skipIf(path === undefined)('COMMAND DOCS', () => {
  it('says the same of every command that both know', async () => {
    const connection = await Connection.open(server().port)
    await connection.send(['HELLO', '3'])
    const theirs = flatten(parse(await connection.send(['COMMAND', 'DOCS'])))
    connection.close()
    const client = new ClusterDoor('a').client()
    client.exchange(['HELLO', '3'])
    const ours = flatten(parse(client.exchange(['COMMAND', 'DOCS'])))
    const common = [...ours].filter(([name]) => theirs.has(name))
    expect(common.length).toBeGreaterThan(COMMAND_SPECS.length)
    const known = new Set(common.map(([name]) => name))
    expect(factsOf(common)).toEqual(factsOf([...theirs].filter(([name]) => known.has(name))))
    const different = common.filter(
      ([name, doc]) => syntaxOf(doc) !== syntaxOf(theirs.get(name) ?? new Map())
    )
    expect(Object.fromEntries(different.map(([name, doc]) => [name, syntaxOf(doc)]))).toEqual(
      OTHERWISE
    )
  })
})
