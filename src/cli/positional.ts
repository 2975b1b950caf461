/** Verbs with words behind them that have no name: `set KEY VALUE --ttl 5`. */
import { parseArgs } from 'node:util'
import { OpenClusterError } from '../errors.js'
import { defineVerb, type Command, type Output, type Verb } from './command.js'
import type { Options, Values } from './options.js'

export interface PositionalCommand<O extends Options> extends Omit<Command<O>, 'run'> {
  /** What the words stand for; all of them are needed. */
  readonly words: readonly string[]
  readonly run: (
    words: readonly string[],
    values: Values<O>,
    output: Output
  ) => number | Promise<number>
}

export function definePositionalVerb<O extends Options>(command: PositionalCommand<O>): Verb {
  const { name, summary } = command
  return {
    name,
    summary,
    run: (argv, output) => {
      const { words, rest } = takeWords(command, argv)
      const missing = command.words.slice(words.length)
      return defineVerb<O>({
        ...command,
        check: () =>
          missing.map((word) => new OpenClusterError('OC_MISSING_OPTION', `${word}: needed`)),
        run: (values, to) => command.run(words, values, to)
      }).run(rest, output)
    }
  }
}

/** The first words without a name, and everything else as it was. */
function takeWords<O extends Options>(
  command: PositionalCommand<O>,
  argv: readonly string[]
): { words: string[]; rest: string[] } {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { kind }]) => [
      name,
      { type: kind === 'flag' ? ('boolean' as const) : ('string' as const) }
    ])
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const taken = tokens
    .filter((token) => token.kind === 'positional')
    .slice(0, command.words.length)
    .map(({ index }) => index)
  return {
    words: taken.map((index) => argv[index]),
    rest: argv.filter((_, index) => !taken.includes(index))
  }
}
