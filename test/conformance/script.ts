/**
 * Scripts of commands whose replies are held against each other. A line is a command; words may be quoted as in
 * redis-cli, and $1000x stands for 1000 times x. Before it may stand how the replies are compared:
 *
 *   ~  arrays in any order      ?  the same kind of reply      #  a remark
 */
import { splitWords } from './words.js'

export type Comparison = 'exact' | 'unordered' | 'kind'

export interface Line {
  readonly args: readonly string[]
  readonly comparison: Comparison
}

const MARKS: Readonly<Record<string, Comparison>> = { '~': 'unordered', '?': 'kind' }

export function readScript(text: string): Line[] {
  const lines: Line[] = []
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const mark = /^[~?] /.exec(line)?.[0][0]
    const comparison = mark === undefined ? 'exact' : MARKS[mark]
    lines.push({ args: splitWords(mark === undefined ? line : line.slice(2)), comparison })
  }
  return lines
}
