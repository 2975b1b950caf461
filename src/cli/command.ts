/** One verb of the command line: its options, its help text and what it does. */
import type { OpenClusterError } from '../errors.js'
import { parseOptions, type Option, type Options, type Values } from './options.js'

export const EXIT = { success: 0, failure: 1, usage: 2 } as const

/** Where a command writes; the real one is the process, a test gathers it. */
export interface Output {
  readonly stdout: {
    write(text: string): unknown
    /** A terminal has columns and rows. */
    readonly isTTY?: boolean | undefined
    readonly columns?: number | undefined
    readonly rows?: number | undefined
  }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined }
}

export interface Command<O extends Options> {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** A few lines for its own help. */
  readonly description: string
  readonly example: string
  readonly options: O
  /** What is wrong with options that are each right by themselves. */
  readonly check?: (values: Values<O>, given: ReadonlySet<string>) => OpenClusterError[]
  readonly run: (values: Values<O>, output: Output) => number | Promise<number>
}

/** A command whose option types are its own business. */
export interface Verb {
  readonly name: string
  readonly summary: string
  readonly run: (argv: readonly string[], output: Output) => number | Promise<number>
}

export function defineVerb<O extends Options>(command: Command<O>): Verb {
  const { name, summary } = command
  return {
    name,
    summary,
    run: (argv, output) => {
      const { values, given, help, problems } = parseOptions(command.options, argv)
      if (help) {
        output.stdout.write(formatHelp(command))
        return EXIT.success
      }
      const all = [...problems, ...(command.check?.(values, given) ?? [])]
      if (all.length > 0) {
        reportProblems(all, `opencluster ${name}`, output)
        return EXIT.usage
      }
      return command.run(values, output)
    }
  }
}

export function reportProblems(
  problems: readonly OpenClusterError[],
  who: string,
  output: Output
): void {
  for (const { message } of problems) output.stderr.write(`${who}: ${message}\n`)
}

function formatHelp<O extends Options>(command: Command<O>): string {
  const rows = Object.entries(command.options).map(
    ([name, option]) => [formatOption(name, option), formatOptionHelp(option)] as const
  )
  rows.push(['--help', 'this text'])
  const width = Math.max(...rows.map(([left]) => left.length))
  return [
    `opencluster ${command.name}: ${command.summary}`,
    '',
    command.description,
    '',
    'Options:',
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    '',
    'Example:',
    `  ${command.example}`,
    ''
  ].join('\n')
}

function formatOption(name: string, option: Option<unknown>): string {
  return option.kind === 'flag' ? `--${name}` : `--${name} ${option.placeholder}`
}

function formatOptionHelp(option: Option<unknown>): string {
  return option.shown === '' ? option.help : `${option.help} (default ${option.shown})`
}
