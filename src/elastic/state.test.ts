import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chooseName } from './host-name.js'
import { createRecord } from './host-record.js'
import { acquireLock } from './lock.js'
import { readStartTime } from './process-identity.js'
import { StateStore } from './state-store.js'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-state-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the state file', () => {
  const open = (isReadOnly = false): StateStore =>
    new StateStore(join(folder, 'state.json'), 5, { isReadOnly })

  test('keeps what was put in', () => {
    open().put(createRecord('node001', 'why', 7))
    const again = open()
    expect(again.records).toEqual([
      { name: 'node001', phase: 'adding', step: 'launch', reason: 'why', since: 7 }
    ])
    again.drop('node001')
    expect(open().records).toEqual([])
    expect(readdirSync(folder)).toEqual(['state.json'])
  })

  test('is not written by a dry run', () => {
    const dry = open(true)
    dry.put(createRecord('node001', 'why', 7))
    expect(dry.records).toHaveLength(1)
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    '',
    '{',
    '[]',
    '{"version":1}',
    '{"version":2,"records":[]}',
    '{"version":1,"records":[{}]}'
  ])('%s is an error, not an empty memory', (text) => {
    writeFileSync(join(folder, 'state.json'), text)
    expect(() => open()).toThrow(/cannot be understood/)
  })
})

describe('the lock', () => {
  const path = (): string => join(folder, 'lock')

  test('is had once, and again after its release', () => {
    const lock = acquireLock(path())
    expect(() => acquireLock(path())).toThrow(`process ${process.pid} on ${hostname()}`)
    lock.release()
    acquireLock(path()).release()
    expect(readdirSync(folder)).toEqual([])
  })

  test('of a process that is gone is taken over', async () => {
    const child = spawn('sleep', ['60'])
    await new Promise((resolve) => child.once('spawn', resolve))
    const holder = { pid: child.pid, startTime: readStartTime(child.pid!), host: hostname() }
    writeFileSync(path(), JSON.stringify(holder))
    expect(() => acquireLock(path())).toThrow(`process ${child.pid!}`)
    child.kill()
    await new Promise((resolve) => child.once('exit', resolve))
    acquireLock(path()).release()
  })

  test('of another process with the same number is taken over', () => {
    writeFileSync(path(), JSON.stringify({ pid: process.pid, startTime: '1', host: hostname() }))
    const lock = acquireLock(path())
    expect(readFileSync(path(), 'utf8')).toContain(`"pid":${process.pid}`)
    lock.release()
  })

  test('of another machine is respected', () => {
    writeFileSync(path(), JSON.stringify({ pid: 1, startTime: '1', host: 'elsewhere' }))
    expect(() => acquireLock(path())).toThrow('on elsewhere')
  })
})

test('the next name has the highest number and one', () => {
  const form = { prefix: 'node', digits: 3 }
  expect(chooseName(['master', 'node001', 'node003', 'node005'], form)).toBe('node006')
  expect(chooseName(['node009.lab.org', 'nodex'], form)).toBe('node010')
  expect(chooseName([], form)).toBe('node001')
  expect(chooseName(['a'], form, ['a', 'b'])).toBe('b')
  expect(chooseName(['a', 'b.lab.org'], form, ['a', 'b'])).toBeUndefined()
})
