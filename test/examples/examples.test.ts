/** The examples do what they say, against real nodes. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Processes, type NodeProcess } from '../integration/process.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const processes = new Processes()
let node: NodeProcess
beforeAll(async () => {
  ;[node] = await processes.cluster(['a', 'b'])
})
afterAll(() => processes.end())

const EXPECTED: Record<string, readonly string[]> = {
  'counter.mjs': ['name: Ada', 'visits: 100', 'swapped: true', 'swapped again: false'],
  'sessions.mjs': ['cart: tea, milk', 'expires: in half an hour'],
  'events.mjs': ['set example:light:kitchen', 'expired example:light:hall'],
  'lock.mjs': ['balance: 30', 'refused: token 0 is too old'],
  'jobs.mjs': ['done: 1 2 3 4 5 6 7 8 9 10'],
  'embedded.mjs': ['values: 1 2 3', 'stopped'],
  'entities.sh': ['put 201', 'a value', 'get 200', 'delete 202', 'get 404']
}

test('all of them are tested', () => {
  const programs = readdirSync(`${root}examples`).filter((name) => !name.endsWith('.md'))
  expect(programs.sort()).toEqual(Object.keys(EXPECTED).sort())
})

test.each(Object.entries(EXPECTED))('%s', (name, lines) => {
  const isShell = name.endsWith('.sh')
  const program = isShell ? '/bin/sh' : process.execPath
  const words = [`examples/${name}`, isShell ? node.http : node.address]
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  for (const line of lines) expect(stdout.split('\n')).toContain(line)
})
