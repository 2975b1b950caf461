import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from '../../src/index.js'
import { opencluster } from './opencluster.js'

test.each([['--help'], ['demo', '--help'], ['simulate', '--help'], ['simulate', '-h']])(
  '%s %s has an example and ends with 0',
  (...args) => {
    const { code, stdout, problems } = opencluster(...args)
    expect(stdout).toMatch(/\nExample:\n {2}opencluster /)
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
  }
)

test('--version is the version of the package', () => {
  const file = new URL('../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  expect(VERSION).toBe(version)
  expect(opencluster('--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
})

test('an unknown command or option is one line and 2', () => {
  expect(opencluster('dmeo')).toEqual({
    code: 2,
    stdout: '',
    problems: [
      expect.stringMatching(/^opencluster: dmeo: no such command; there are: .*demo.*simulate/)
    ]
  })
  expect(opencluster('--dmeo')).toMatchObject({ code: 2, stdout: '' })
  expect(opencluster()).toMatchObject({ code: 2, stdout: '' })
})

test('the demonstration draws a growing cluster, ends by itself and says ready', () => {
  const { code, stdout } = opencluster('demo', '--rules')
  expect(code).toBe(0)
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('ready')
  expect(stdout).toContain('NODE-F joins. 6 nodes: 5 shipped, 5 needed;')
})
