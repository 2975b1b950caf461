/** Any program as a source: it prints the documented JSON on stdout and exits with 0. */
import { describeExit } from '../external-command.js'
import type { Place } from '../place.js'
import { parseAnswer } from './command-answer.js'
import type { Reading, ReadOptions, Source } from './source.js'

export interface CommandSourceOptions {
  readonly place: Place
  readonly argv: readonly string[]
  readonly timeoutMs: number
}

export class CommandSource implements Source {
  readonly label: string
  readonly #options: CommandSourceOptions

  constructor(options: CommandSourceOptions) {
    this.#options = options
    this.label = options.argv[0]
  }

  async read({ now, lookbackMs, signal }: ReadOptions): Promise<Reading> {
    const { place, argv, timeoutMs } = this.#options
    const env = { OC_LOOKBACK_MS: String(lookbackMs) }
    const result = await place.run(argv, { timeoutMs, signal, env })
    if (result.code !== 0) throw describeExit(argv, result)
    return { facts: parseAnswer(result.stdout, this.label, now), notes: [] }
  }
}
