import { describe, expect, it } from 'vitest'
import { MiniCluster } from '../../../test/support/mini-cluster.js'
import { COMMAND_SPECS, findSpec } from '../../commands/command-specs.js'
import { COMMANDS } from '../../commands/registry.js'
import { DOOR_COMMANDS } from './commands.js'

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
