// What the pages tell somebody to type can be typed: options that there are, scripts that there are, and the simulations
// of the first pages are really run (one seed where the page asks for many, and not for long).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../../src/cli/main.js'

const root = join(import.meta.dirname, '..', '..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
]
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

/** `opencluster …` lines in fences and in code spans, without what comes behind a comment. */
function commandsIn(text: string): string[] {
  const fenced = [...text.matchAll(/^```(?:sh|console)?\n([\s\S]*?)^```/gm)].flatMap(([, block]) =>
    block.replaceAll('\\\n', ' ').split('\n')
  )
  const spans = [...text.matchAll(/`((?:npx )?opencluster [^`]+)`/g)].map(([, span]) => span)
  return [...fenced, ...spans]
    .map((line) => line.replace(/\s#.*$/, '').trim())
    .filter((line) => /^(?:npx )?opencluster [a-z]/.test(line))
    .map((line) => line.replace(/^(?:npx )?opencluster /, ''))
}

async function type(words: readonly string[]): Promise<{ code: number; text: string }> {
  let text = ''
  const stream = { write: (more: string) => (text += more) }
  const code = await run([...words], { stdout: stream, stderr: stream })
  return { code, text }
}

const helped = new Map<string, Promise<string>>()
function helpOf(verb: string): Promise<string> {
  const known = helped.get(verb) ?? type([verb, '--help']).then(({ text }) => text)
  helped.set(verb, known)
  return known
}

describe('what the pages tell to type', () => {
  test.each(pages)('%s: verbs and options are there', async (page) => {
    for (const line of commandsIn(read(page))) {
      const [verb, ...words] = line.split(/\s+/)
      const help = await helpOf(verb)
      expect(help, `${page}: ${line}`).toMatch(/^opencluster [a-z]/)
      for (const [option] of words.join(' ').matchAll(/--[a-z][a-z-]*/g)) {
        expect(help, `${page}: ${line}`).toContain(option)
      }
    }
  })

  test.each(pages)('%s: scripts of the package are there', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    for (const [, name] of read(page).matchAll(/npm run ([a-z:-]+)/g)) {
      expect(Object.keys(scripts), page).toContain(name)
    }
  })

  const simulations = [
    ...new Set(['README.md', 'CONTRIBUTING.md'].flatMap((page) => commandsIn(read(page))))
  ]
    .filter((line) => line.startsWith('simulate'))
    .map((line) =>
      line.replace(/--seeds \d+/, '--seeds 1 --seed 7').replace(/(--seed 7) (.*)--seed 7/, '$1 $2')
    )
    .map((line) => (line.includes('--joins') ? line : `${line} --minutes 0.02`))

  test('there are some to run', () => {
    expect(simulations.length).toBeGreaterThan(5)
  })

  test.each(simulations)('%s', async (line) => {
    const { code, text } = await type(line.split(/\s+/))
    expect(code, text.slice(-500)).toBe(0)
    expect(text.length).toBeGreaterThan(50)
  })
})
