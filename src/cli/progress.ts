/** A bar on a terminal, and nothing anywhere else: a log file has no use for it. */
import type { Output } from './command.js'

const WIDTH = 30
const CLEAR_LINE = '\r\u001b[K'

export class Progress {
  readonly #stream: Output['stderr'] | undefined
  readonly #total: number
  #done = 0

  constructor(output: Output, total: number) {
    this.#stream = output.stderr.isTTY === true ? output.stderr : undefined
    this.#total = total
  }

  /** One of the total is done; the label says what comes next or was done last. */
  advance(label: string): void {
    this.#done++
    const filled = Math.round((WIDTH * this.#done) / Math.max(1, this.#total))
    const bar = '#'.repeat(Math.min(WIDTH, filled)).padEnd(WIDTH, '.')
    this.#stream?.write(`${CLEAR_LINE}[${bar}] ${this.#done}/${this.#total} ${label}`)
  }

  /** Takes the bar away, so that ordinary lines can be written. */
  clear(): void {
    this.#stream?.write(CLEAR_LINE)
  }
}
