/** Files that the documentation names are there: a walk through the code that leads nowhere helps nobody. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

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
