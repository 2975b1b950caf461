import { describe, expect, it } from 'vitest'
import { latin1Bytes } from '../core/bytes.js'
import { ReplyWriter } from '../wire/resp/reply-writer.js'
import { checkArity, COMMANDS, findCommand, hasArity } from './registry.js'

function find(name: string): string | undefined {
  const bytes = latin1Bytes(`*2${name}\r\n`)
  return findCommand(bytes, 2, name.length)?.name
}

describe('the registry', () => {
  it('finds every command in letters of any size', () => {
    for (const { name } of COMMANDS) {
      expect(find(name)).toBe(name)
      expect(find(name.toUpperCase())).toBe(name)
      const mixed = name.replace(/.(?=.)/g, (letter) => letter.toUpperCase())
      expect(find(mixed)).toBe(name)
    }
  })

  it('has each name once, in small letters', () => {
    const names = COMMANDS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.every((name) => /^[a-z._-]+$/.test(name))).toBe(true)
  })

  it('finds nothing else', () => {
    const names = new Set(COMMANDS.map(({ name }) => name))
    for (const name of names) {
      for (const other of [name.slice(0, -1), `${name}x`, `x${name}`, ` ${name}`, `${name}\0`]) {
        if (!names.has(other)) expect(find(other)).toBeUndefined()
      }
      const last = name.slice(0, -1) + String.fromCharCode(name.charCodeAt(name.length - 1) ^ 0x80)
      expect(find(last)).toBeUndefined()
    }
    expect(find('')).toBeUndefined()
    expect(find('g'.repeat(1000))).toBeUndefined()
  })

  it('writes are marked as such, and reads are not', () => {
    for (const { name, flags } of COMMANDS) {
      expect([name, flags.includes('write')]).toEqual([name, !flags.includes('readonly')])
      if (flags.includes('memory')) expect(flags).toContain('write')
    }
  })

  it('checks how many arguments there are', () => {
    const get = findCommand(latin1Bytes('GET'), 0, 3)!
    const set = findCommand(latin1Bytes('SET'), 0, 3)!
    expect([1, 2, 3].map((count) => hasArity(get, count))).toEqual([false, true, false])
    expect([2, 3, 9].map((count) => hasArity(set, count))).toEqual([false, true, true])
    const reply = new ReplyWriter()
    expect(checkArity(get, 2, reply)).toBe(true)
    expect(checkArity(get, 3, reply)).toBe(false)
    const text = String.fromCharCode(...reply.release())
    expect(text).toBe("-ERR wrong number of arguments for 'get' command\r\n")
  })
})
