/**
 * `status --watch`: the picture again and again until Ctrl-C. On a terminal it is drawn over the last one, without
 * flicker, and cut to the height of the screen; elsewhere each is a block of lines. When the node that is asked dies, the next
 * one of the cluster is asked.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Status } from '../runtime/status.js'
import { fetchClusterStatus } from './cluster-status.js'
import type { Output } from './command.js'
import { arrangementOf, countRemaining } from './status-model.js'
import { isRing } from './status-ring.js'
import { drawBar, type Style } from './status-style.js'

const WATCH_MS = 1000
const BAR_WIDTH = 40
const HOME = '\u001b[H'
const CLEAR_LINE_END = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'
const CLEAR_SCREEN = '\u001b[H\u001b[2J'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/** How far a rebalance is: the most that was out of place since it began is the whole. */
export class Rebalance {
  #most = 0

  /** A line with a bar while something is out of place, otherwise nothing. */
  describe(status: Status, style: Style): string | undefined {
    // A ring has stages instead, which its picture names.
    if (isRing(status)) return undefined
    const { copies, roles } = countRemaining(arrangementOf(status))
    const left = copies + roles
    if (left === 0) {
      this.#most = 0
      return undefined
    }
    this.#most = Math.max(this.#most, left)
    const share = (this.#most - left) / this.#most
    const bar = drawBar([{ share, colour: 'yellow' }], BAR_WIDTH, style)
    const what = [
      ...(copies > 0 ? [`${copies} copies to ship`] : []),
      ...(roles > 0 ? [`${roles} primary roles to hand over`] : [])
    ]
    return `rebalancing [${bar}] ${Math.floor(share * 100)} %  ${what.join(', ')}`
  }
}

export interface WatchOptions {
  readonly node: string
  readonly output: Output
  readonly style: Style
  readonly format: (status: Status) => readonly string[]
}

/** Never returns by itself; the process is ended from outside. */
export async function watchStatus({ node, output, style, format }: WatchOptions): Promise<never> {
  const rebalance = new Rebalance()
  const screen = new Screen(output)
  let address = node
  let others: string[] = []
  for (;;) {
    try {
      const status = await fetchClusterStatus(address)
      others = status.nodes
        .filter(({ state, resp }) => state === 'alive' && resp !== address)
        .map(({ resp }) => resp)
      const bar = rebalance.describe(status, style)
      screen.draw([...(bar === undefined ? [] : [bar]), ...format(status)])
    } catch (error) {
      const next = others.shift()
      const reason = error instanceof Error ? error.message : String(error)
      if (next === undefined) output.stderr.write(`${reason}\n`)
      else {
        output.stderr.write(`${reason}; asking ${next}\n`)
        address = next
        continue
      }
    }
    await sleep(WATCH_MS)
  }
}

class Screen {
  readonly #output: Output
  #drawn = false

  constructor(output: Output) {
    this.#output = output
  }

  draw(lines: readonly string[]): void {
    const { stdout } = this.#output
    if (stdout.isTTY !== true) {
      stdout.write(`${this.#drawn ? '\n' : ''}${lines.join('\n')}\n`)
      this.#drawn = true
      return
    }
    if (!this.#drawn) {
      stdout.write(`${CLEAR_SCREEN}${HIDE_CURSOR}`)
      process.once('exit', () => stdout.write(SHOW_CURSOR))
      process.once('SIGINT', () => process.exit(0))
      this.#drawn = true
    }
    const rows = (stdout.rows ?? 24) - 1
    const shown =
      lines.length <= rows
        ? lines
        : [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more lines`]
    const text = shown.map((line) => `${line}${CLEAR_LINE_END}`).join('\n')
    stdout.write(`${HOME}${text}\n${CLEAR_BELOW}`)
  }
}
