// The documentation lists what the code has, no more and no less. `UPDATE_DOCS=1` writes the lists anew.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { envNameOf, keyOf, NODE_OPTIONS } from '../../src/config/options.js'
import { ERRORS } from '../../src/errors.js'

const root = join(import.meta.dirname, '..', '..')

function expectPage(name: string, text: string): void {
  const path = join(root, 'docs', name)
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, text)
  expect(existsSync(path) ? readFileSync(path, 'utf8') : '').toBe(text)
}

function describeOptions(): string {
  const rows = Object.entries(NODE_OPTIONS).map(([name, option]) => {
    const shown = option.shown === '' ? '' : `\`${option.shown}\``
    return `| \`--${name} ${option.placeholder}\` | \`${envNameOf(name)}\` | \`${keyOf(name)}\` | ${shown} | ${option.help} |`
  })
  return [
    '# Configuration',
    '',
    'A flag wins over an environment variable, that over a key of the configuration file (`--config FILE`, JSON), that',
    'over the default. All problems are reported at once.',
    '',
    '| flag | environment | key | default | what |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    ''
  ].join('\n')
}

function describeErrors(): string {
  const rows = Object.entries(ERRORS).map(([code, { meaning, remedy }]) => {
    return `| \`${code}\` | ${meaning} | ${remedy} |`
  })
  return [
    '# Errors',
    '',
    '| code | what it means | what to do |',
    '| --- | --- | --- |',
    ...rows,
    ''
  ].join('\n')
}

describe('docs', () => {
  test('list every option', () => {
    expectPage('configuration.md', describeOptions())
  })

  test('list every error', () => {
    expectPage('errors.md', describeErrors())
  })

  test('name every kind of test', () => {
    const read = (path: string): string => readFileSync(join(root, path), 'utf8')
    const projects = [...read('vitest.config.ts').matchAll(/name: '(\w+)'/g)].map(
      ([, name]) => name
    )
    const named = [...read('docs/testing.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    expect(named.sort()).toEqual(projects.sort())
  })

  test('point only to pages that are there', () => {
    const pages = [
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'examples/README.md',
      ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)
    ]
    for (const page of pages.filter((name) => name.endsWith('.md'))) {
      const text = readFileSync(join(root, page), 'utf8')
      for (const [, target] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
        expect(existsSync(join(root, page, '..', target)), `${page} points to ${target}`).toBe(true)
      }
    }
  })
})
