/**
 * Runs every transcript in this folder and compares what is printed with what is written there.
 * `UPDATE_TRANSCRIPTS=1 npx vitest run --project transcripts` writes it anew; read the difference afterwards.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Session } from './session.js'
import { formatTranscript, parseTranscript, type Part } from './transcript.js'

const folder = new URL('.', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.txt'))
const update = process.env['UPDATE_TRANSCRIPTS'] === '1'

test('there are transcripts', () => {
  expect(files.length).toBeGreaterThan(0)
})

test.each(files)('%s', (name) => {
  const file = new URL(name, folder)
  const text = readFileSync(file, 'utf8')
  const parts = parseTranscript(text)
  const session = new Session()
  const actual = parts.map((part): Part => {
    if (part.kind === 'text') return part
    try {
      return { ...part, output: session.run(part.command, part.input) }
    } catch (error) {
      throw new Error(`${name}:${part.line}: ${part.command}`, { cause: error })
    }
  })
  if (update) writeFileSync(file, formatTranscript(actual))
  else expect(formatTranscript(actual)).toBe(text)
})

test('a transcript is read and written back as it was', () => {
  const text = '# a comment\n\ncommand x=1\ninput\n----\noutput\n\n# end\n'
  expect(formatTranscript(parseTranscript(text))).toBe(text)
  expect(() => parseTranscript('command\noutput\n')).toThrow('line 1')
})
