import { describe, expect, test } from 'vitest'
import { createLocalPlace } from '../place.js'
import { CommandSource } from './command.js'
import { parseAnswer } from './command-answer.js'

const NOW = Date.UTC(2026, 10, 16)
const parse = (value: unknown): ReturnType<typeof parseAnswer> =>
  parseAnswer(JSON.stringify(value), 'facts', NOW)

describe('the answer of a command', () => {
  test('needs little', () => {
    const submittedAt = '2026-11-15T23:00:00+00:00'
    expect(parse({ hosts: [{ name: 'a', slots: 4 }], jobs: [{ id: 7, submittedAt }] })).toEqual({
      at: NOW,
      hosts: [{ name: 'a', role: 'worker', state: 'ready', slots: 4, used: 0, queues: [] }],
      jobs: [{ id: '7', state: 'queued', submittedAt: NOW - 3_600_000, slots: 1, tasks: 1 }],
      finished: [],
      consumables: []
    })
  })

  test.each([
    [{}, 'facts: hosts is missing'],
    [{ hosts: [] }, 'facts: jobs is missing'],
    [{ hosts: {}, jobs: [] }, 'facts.hosts: must be a list'],
    [{ hosts: [{ name: 'a' }], jobs: [] }, 'facts.hosts[0]: slots is missing'],
    [{ hosts: [{ name: 'a', slots: -1 }], jobs: [] }, 'facts.hosts[0].slots: must be a whole'],
    [{ hosts: [{ name: 'a', slot: 1 }], jobs: [] }, 'facts.hosts[0]: slot: no such field'],
    [{ hosts: [{ name: 'a', slots: 1, used: 2 }], jobs: [] }, 'a has 1 slots and 2 in use'],
    [{ hosts: [{ name: 'a', slots: 1, state: 'up' }], jobs: [] }, 'state: must be ready'],
    [{ hosts: [], jobs: [{ id: 1, submittedAt: 'soon' }] }, 'submittedAt: must be milliseconds'],
    [{ hosts: [], jobs: [{ id: 1, submittedAt: NOW, slots: 0 }] }, 'slots: must be at least 1']
  ])('%j is refused', (value, message) => {
    expect(() => parse(value)).toThrow(message)
  })

  test('the same host twice is refused', () => {
    const host = { name: 'a', slots: 1 }
    expect(() => parse({ hosts: [host, host], jobs: [] })).toThrow('host a twice')
  })
})

describe('the command', () => {
  const read = (...argv: string[]): Promise<unknown> =>
    new CommandSource({ place: createLocalPlace(), argv, timeoutMs: 500 }).read({
      now: NOW,
      lookbackMs: 1
    })

  test('is run', async () => {
    expect(await read('echo', '{"hosts":[],"jobs":[]}')).toMatchObject({ facts: { at: NOW } })
  })

  test.each([
    [['sh', '-c', 'echo no licence >&2; exit 3'], /exit code 3: no licence/],
    [['echo', '{"hosts":[],'], /not whole JSON/],
    [['true'], /an empty answer/],
    [['sleep', '60'], /sleep 60: no answer within 0.5 s/],
    [['/nonexistent/program'], /no such program/],
    [['sh', '-c', 'kill -9 $$'], /ended by SIGKILL/]
  ])('%j fails with one line', async (argv, message) => {
    const failure = await read(...argv).catch((error: unknown) => error as Error)
    expect(failure).toBeInstanceOf(Error)
    expect((failure as Error).message).toMatch(message)
    expect((failure as Error).message).not.toContain('\n')
  })
})
