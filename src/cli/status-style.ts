/** How text may look where it is written: colours and fine characters on a terminal that has them, plain letters elsewhere. */
import type { Output } from './command.js'

export type Colour = 'green' | 'cyan' | 'yellow' | 'magenta' | 'red' | 'alarm' | 'dim' | 'bold'

const CODES: Readonly<Record<Colour, string>> = {
  green: '32',
  cyan: '36',
  yellow: '33',
  magenta: '35',
  red: '31',
  alarm: '1;37;41',
  dim: '2',
  bold: '1'
}

const COLUMNS_PLAIN = 100
const COLUMNS_MIN = 40

export interface Style {
  readonly colour: boolean
  /** Blocks and arrows; otherwise ASCII. */
  readonly fine: boolean
  readonly columns: number
}

export const PLAIN: Style = { colour: false, fine: false, columns: COLUMNS_PLAIN }

/** `NO_COLOR` and `TERM=dumb` are respected; a pipe or a file gets plain text. */
export function styleFor(
  stdout: Output['stdout'],
  env: Readonly<Record<string, string | undefined>>
): Style {
  const { isTTY = false, columns = COLUMNS_PLAIN } = stdout
  if (!isTTY) return PLAIN
  const { NO_COLOR = '', TERM = '', LC_ALL = '', LC_CTYPE = '', LANG = '' } = env
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => name !== '') ?? ''
  return {
    colour: NO_COLOR === '' && TERM !== 'dumb',
    fine: /utf-?8/i.test(locale),
    columns: Math.max(COLUMNS_MIN, columns)
  }
}

export function paint(text: string, colour: Colour, style: Style): string {
  return style.colour && text !== '' ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

const PAINTED = /\u001b\[[\d;]*m/g

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return Array.from(text.replace(PAINTED, '')).length
}

/** A bar of parts, each with its own character: `[###==....]`. */
export function drawBar(
  parts: readonly { readonly share: number; readonly colour: Colour }[],
  width: number,
  style: Style
): string {
  const characters = style.fine ? ['█', '▒', '░'] : ['#', '=', '+']
  let used = 0
  let sum = 0
  const drawn = parts.map(({ share, colour }, i) => {
    sum += share
    const end = Math.min(width, Math.max(used, Math.round(sum * width)))
    const text = characters[i % characters.length].repeat(end - used)
    used = end
    return paint(text, colour, style)
  })
  const rest = (style.fine ? '·' : '.').repeat(width - used)
  return `${drawn.join('')}${paint(rest, 'dim', style)}`
}
