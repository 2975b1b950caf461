import { describe, expect, it } from 'vitest'
import { MiniCluster } from '../../../test/support/mini-cluster.js'
import { COMMAND_SPECS, findSpec } from '../../commands/command-specs.js'
import { COMMANDS } from '../../commands/registry.js'
import { commandDocs } from '../../commands/docs/command-docs.js'
import { DOOR_COMMANDS } from './commands.js'
import { partsOf } from './container.js'

describe('the table of COMMAND', () => {
  const names = [...COMMANDS, ...DOOR_COMMANDS]
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('oc.'))

  it('names every command and nothing else', () => {
    expect(COMMAND_SPECS.map(({ name }) => name)).toEqual([...new Set(names)].sort())
  })

  it('says how many arguments they take', () => {
    for (const { name, arity } of DOOR_COMMANDS) {
      if (!name.startsWith('oc.')) expect([name, findSpec(name)?.arity]).toEqual([name, arity])
    }
    // A command that is there for one key and for several is at the door with all it takes.
    const atDoor = new Set(DOOR_COMMANDS.map(({ name }) => name))
    for (const { name, arity } of COMMANDS) {
      if (name.startsWith('oc.') || atDoor.has(name)) continue
      expect([name, findSpec(name)?.arity]).toEqual([name, arity])
    }
  })

  it('says which write', () => {
    for (const { name, flags } of COMMANDS) {
      if (name.startsWith('oc.')) continue
      const write = (flags as readonly string[]).includes('write')
      expect([name, findSpec(name)?.flags.includes('write')]).toEqual([name, write])
    }
  })

  it('knows subcommands by both names, and names them', () => {
    const cluster = new MiniCluster()
    const client = cluster.client(cluster.startAll('a')[0])
    const names = ['config|get', 'OBJECT|encoding', 'object|help', 'get|x', 'config|nosuch', 'x|y']
    const [configGet, encoding, help, ...others] = client.call('COMMAND', 'INFO', ...names) as [
      string,
      ...unknown[]
    ][]
    expect(configGet.slice(0, 2)).toEqual(['config|get', -3])
    expect(encoding.slice(0, 2)).toEqual(['object|encoding', 3])
    expect(encoding.slice(3, 6)).toEqual([2, 2, 1])
    expect(help.slice(3, 6)).toEqual([0, 0, 0])
    expect(others).toEqual([null, null, null])
    const [config] = client.call('COMMAND', 'INFO', 'config') as [unknown[]]
    expect((config.at(-1) as unknown[][]).map(([name]) => name)).toContain('config|get')
  })
})

describe('COMMAND DOCS', () => {
  const cluster = new MiniCluster()
  const [node] = cluster.startAll('a')

  it('is about every subcommand, and nothing else', () => {
    const parts = COMMAND_SPECS.flatMap(({ name }) => partsOf(name).map((part) => part.name))
    const described = [...commandDocs().keys()].filter((name) => name.includes('|'))
    expect(described.sort()).toEqual(parts.sort())
  })

  it('says what a command is for, as a list in RESP2', () => {
    const client = cluster.client(node)
    expect(client.call('COMMAND', 'DOCS', 'HMSET', 'nosuch', 'get|x')).toEqual([
      'hmset',
      [
        ...['summary', 'Writes several fields, and answers OK'],
        ...['since', '2.0.0', 'group', 'hash', 'complexity', 'O(fields)'],
        ...['doc_flags', ['deprecated'], 'deprecated_since', '4.0.0'],
        ...['replaced_by', 'HSET, which takes several fields as well'],
        'arguments',
        [
          ['name', 'key', 'type', 'key'],
          [
            ...['name', 'field_value', 'type', 'block', 'flags', ['multiple'], 'arguments'],
            [
              ['name', 'field', 'type', 'string'],
              ['name', 'value', 'type', 'string']
            ]
          ]
        ]
      ]
    ])
    expect(client.call('COMMAND', 'DOCS', 'nosuch', 'config|nosuch')).toEqual([])
  })

  it('says it as a map in RESP3, with tokens and flags', () => {
    const client = cluster.client(node)
    client.call('HELLO', '3')
    const docs = client.call('COMMAND', 'DOCS', 'scan') as Map<string, Map<string, unknown>>
    expect(docs.get('scan')?.get('arguments')).toEqual([
      new Map([
        ['name', 'cursor'],
        ['type', 'integer']
      ]),
      ...[
        ['pattern', 'pattern', 'MATCH'],
        ['count', 'integer', 'COUNT'],
        ['type', 'string', 'TYPE']
      ].map(
        ([name, type, token]) =>
          new Map<string, unknown>([
            ['name', name],
            ['type', type],
            ['token', token],
            ['flags', new Set(['optional'])]
          ])
      )
    ])
  })

  it('has subcommands inside, and by their own names', () => {
    const client = cluster.client(node)
    client.call('HELLO', '3')
    const docs = client.call('COMMAND', 'DOCS', 'config', 'Config|Get') as Map<
      string,
      Map<string, unknown>
    >
    const parts = docs.get('config')?.get('subcommands') as Map<string, unknown>
    expect([...parts.keys()].sort()).toEqual(
      ['get', 'help', 'resetstat', 'rewrite', 'set'].map((part) => `config|${part}`)
    )
    expect(parts.get('config|get')).toEqual(docs.get('config|get'))
  })

  it('tells of all that COMMAND lists', () => {
    const client = cluster.client(node)
    const docs = client.call('COMMAND', 'DOCS') as unknown[]
    expect(docs.filter((_, place) => place % 2 === 0)).toEqual(
      COMMAND_SPECS.map(({ name }) => name)
    )
  })
})
