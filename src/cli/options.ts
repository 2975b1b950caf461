/**
 * The options of a command as one small table: from it come the parsing, the checks and the help text.
 * Underneath is `parseArgs` of Node in its lenient mode, because its strict mode stops at the first
 * problem, and someone who made two mistakes should hear of both.
 */
import { parseArgs } from 'node:util'
import { OpenClusterError } from '../errors.js'

export type Parsed<T> = { readonly value: T } | { readonly problem: string }

export interface Option<T> {
  readonly kind: 'flag' | 'value'
  readonly help: string
  /** Stands for the value in the help text. */
  readonly placeholder: string
  /** The value when the option is not given, and how the help text shows it ('' hides it). */
  readonly initial: T
  readonly shown: string
  readonly parse: (text: string) => Parsed<T>
  /** The command cannot do without it; this shows how it is given. */
  readonly required?: string
}

// The parameter of `parse` is the same for all, and what it returns is only ever read as unknown here.
export type Options = Readonly<Record<string, Option<unknown>>>
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never
}

/** On or off: `--name` and `--no-name`; undefined when neither is given. */
export function flag(help: string): Option<boolean | undefined> {
  const parse = (text: string): Parsed<boolean> => ({ value: text === 'true' })
  return { kind: 'flag', help, placeholder: '', initial: undefined, shown: '', parse }
}

export interface IntegerRange {
  readonly min: number
  readonly max: number
}

export function integer(help: string, initial: number, { min, max }: IntegerRange): Option<number> {
  const parse = (text: string): Parsed<number> => {
    const value = readInteger(text)
    return value !== undefined && value >= min && value <= max
      ? { value }
      : { problem: `must be a whole number from ${min} to ${max}` }
  }
  return { kind: 'value', help, placeholder: 'N', initial, shown: String(initial), parse }
}

/** A whole number that may also be left out, such as a seed that is drawn then. */
export function optionalInteger(help: string, range: IntegerRange): Option<number | undefined> {
  return { ...integer(help, 0, range), initial: undefined, shown: '' }
}

/** A number that need not be whole: above 0, up to a limit. */
export function positive(help: string, initial: number, max: number): Option<number> {
  const parse = (text: string): Parsed<number> => {
    const value = readPositive(text)
    return value !== undefined && value <= max
      ? { value }
      : { problem: `must be a number above 0, up to ${max}` }
  }
  return { kind: 'value', help, placeholder: 'N', initial, shown: String(initial), parse }
}

/** One of a few words; `planned` ones are understood, but not there yet. */
export function choice<T extends string>(
  help: string,
  initial: T,
  choices: readonly T[],
  planned: readonly string[] = []
): Option<T> {
  const parse = (text: string): Parsed<T> => {
    const value = choices.find((allowed) => allowed === text)
    if (value !== undefined) return { value }
    const there = listChoices(choices)
    return { problem: planned.includes(text) ? `not there yet; use ${there}` : `must be ${there}` }
  }
  const placeholder = choices.join('|')
  return { kind: 'value', help, placeholder, initial, shown: initial, parse }
}

/** Digits only: `Number` would also take '', ' 7', '1e3' and '0x10'. */
export function readInteger(text: string): number | undefined {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Digits, perhaps with a point between them, and not all of them 0. */
export function readPositive(text: string): number | undefined {
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) return undefined
  const value = Number(text)
  return value > 0 ? value : undefined
}

export interface ListOption<T> {
  readonly help: string
  readonly placeholder: string
  /** What each item must be, for the message about one that is not. */
  readonly wanted: string
  readonly lengthMax: number
  readonly read: (text: string) => T | undefined
}

/** Items between commas; undefined when the option is not given. */
export function list<T>(option: ListOption<T>): Option<readonly T[] | undefined> {
  const { help, placeholder, wanted, lengthMax, read } = option
  const parse = (text: string): Parsed<readonly T[]> => {
    const texts = text.split(',')
    if (texts.length > lengthMax) return { problem: `there can be ${lengthMax} at the most` }
    const values: T[] = []
    const wrong = new Set<string>()
    for (const item of texts) {
      const value = read(item)
      if (value === undefined) wrong.add(item === '' ? 'nothing' : item)
      else values.push(value)
    }
    return wrong.size === 0
      ? { value: values }
      : { problem: `${wanted}, not ${listChoices([...wrong])}` }
  }
  return { kind: 'value', help, placeholder, initial: undefined, shown: '', parse }
}

export function listChoices(choices: readonly (string | number)[]): string {
  const last = choices[choices.length - 1]
  return choices.length < 2 ? String(last) : `${choices.slice(0, -1).join(', ')} or ${last}`
}

export interface ParsedOptions<O extends Options> {
  readonly values: Values<O>
  /** The options that were typed, right or wrong. */
  readonly given: ReadonlySet<string>
  readonly help: boolean
  readonly problems: readonly OpenClusterError[]
}

export function parseOptions<O extends Options>(
  options: O,
  argv: readonly string[]
): ParsedOptions<O> {
  const values: Record<string, unknown> = {}
  const known: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' }
  }
  for (const [name, option] of Object.entries(options)) {
    values[name] = option.initial
    known[name] = { type: option.kind === 'flag' ? 'boolean' : 'string' }
  }
  const problems: OpenClusterError[] = []
  const given = new Set<string>()
  let help = false
  const args = [...argv]
  const parsed = parseArgs({ args, options: known, strict: false, tokens: true })
  for (const token of parsed.tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      problems.push(new OpenClusterError('OC_UNEXPECTED_ARGUMENT', `${token.value}: unexpected`))
      continue
    }
    if (token.name === 'help') {
      help = true
      continue
    }
    given.add(token.name.startsWith('no-') ? token.name.slice(3) : token.name)
    const read = readOption(options, token)
    if (read instanceof OpenClusterError) problems.push(read)
    else values[read.name] = read.value
  }
  for (const [name, { required }] of Object.entries(options)) {
    if (required === undefined || given.has(name)) continue
    const text = `--${name}: needed, such as ${required}`
    problems.push(new OpenClusterError('OC_MISSING_OPTION', text))
  }
  return { values: values as Values<O>, given, help, problems }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function readOption(
  options: Options,
  token: OptionToken
): { name: string; value: unknown } | OpenClusterError {
  const { rawName } = token
  const negated = token.name.startsWith('no-') && !Object.hasOwn(options, token.name)
  const name = negated ? token.name.slice(3) : token.name
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined || (negated && option.kind !== 'flag')) {
    return new OpenClusterError('OC_UNKNOWN_OPTION', `${rawName}: no such option`)
  }
  if (option.kind === 'flag') {
    if (token.value !== undefined) {
      return new OpenClusterError('OC_BAD_OPTION', `${rawName}: takes no value`)
    }
    return { name, value: !negated }
  }
  // `--seed --json` forgot the seed; a value that really starts so can be written `--name=--value`.
  const missing = token.value === undefined || token.value === ''
  if (missing || (!token.inlineValue && token.value.startsWith('--'))) {
    return new OpenClusterError('OC_BAD_OPTION', `${rawName}: needs a value`)
  }
  const result = option.parse(token.value)
  if ('value' in result) return { name, value: result.value }
  return new OpenClusterError('OC_BAD_OPTION', `${rawName} ${token.value}: ${result.problem}`)
}
