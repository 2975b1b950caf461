/** Files that the documentation names are there: a walk through the code that leads nowhere helps nobody. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = [
  'ARCHITECTURE.md',
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(`${root}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
]

it.each(pages)('%s names only files that exist', (page) => {
  const text = readFileSync(`${root}${page}`, 'utf8')
  const named = [...text.matchAll(/`((?:src|sim|test|bench|web|scripts|deploy)\/[\w./-]+)`/g)].map(
    ([, path]) => path
  )
  const missing = named.filter((path) => !existsSync(`${root}${path}`))
  expect(missing).toEqual([])
})

describe('ARCHITECTURE.md', () => {
  it('says what each dependency is for, and names no others', () => {
    const { dependencies, devDependencies, peerDependencies } = JSON.parse(
      readFileSync(`${root}package.json`, 'utf8')
    ) as Record<string, Record<string, string>>
    const used = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
    const section = readFileSync(`${root}ARCHITECTURE.md`, 'utf8').split('## Dependencies')[1]
    const named = [...section.matchAll(/^\| (.+?) \| .+ \|$/gm)]
      .flatMap(([, names]) => names.replace(/ \(.*\)/, '').split(', '))
      .filter((name) => name !== 'package' && name !== '---')
    expect([...new Set(named)].sort()).toEqual([...new Set(used)].sort())
  })
})
