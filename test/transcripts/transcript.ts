/**
 * The transcript format: `command`, perhaps lines of input, `----`, and the output up to an empty line.
 * Lines that begin with `#` between the blocks are for the reader. Rewriting keeps everything but the output.
 */
const DIVIDER = '----'

export interface Block {
  readonly kind: 'block'
  /** Of the command, from 1; for failure messages. */
  readonly line: number
  readonly command: string
  readonly input: readonly string[]
  readonly output: readonly string[]
}

export type Part = Block | { readonly kind: 'text'; readonly text: string }

export function parseTranscript(text: string): Part[] {
  const lines = text.replace(/\n+$/, '').split('\n')
  const parts: Part[] = []
  let at = 0
  while (at < lines.length) {
    if (lines[at] === '' || lines[at].startsWith('#')) {
      parts.push({ kind: 'text', text: lines[at] })
      at++
      continue
    }
    const divider = lines.indexOf(DIVIDER, at)
    if (divider === -1) throw new Error(`line ${at + 1}: no ${DIVIDER} after the command`)
    const empty = lines.indexOf('', divider)
    const end = empty === -1 ? lines.length : empty
    parts.push({
      kind: 'block',
      line: at + 1,
      command: lines[at],
      input: lines.slice(at + 1, divider),
      output: lines.slice(divider + 1, end)
    })
    at = end
  }
  return parts
}

export function formatTranscript(parts: readonly Part[]): string {
  const lines = parts.flatMap((part) =>
    part.kind === 'text' ? [part.text] : [part.command, ...part.input, DIVIDER, ...part.output]
  )
  return `${lines.join('\n')}\n`
}
