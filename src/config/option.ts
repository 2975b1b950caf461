/**
 * One option as a value: how it is read from text, what it is when it is not given, and how it is
 * shown. Flags of a command, environment variables and configuration files all read through this.
 */
export type Parsed<T> = { readonly value: T } | { readonly problem: string }

export interface Option<T> {
  readonly kind: 'value'
  readonly help: string
  /** Stands for the value in the help text. */
  readonly placeholder: string
  /** The value when the option is not given, and how the help text shows it ('' hides it). */
  readonly initial: T
  readonly shown: string
  readonly parse: (text: string) => Parsed<T>
  /** What a number counts: `ms`, `s`. */
  readonly unit?: string
  /** It may be given several times: how the values become one. */
  gather?(before: T, value: T): T
}

// The parameter of `parse` is the same for all, and what it returns is only ever read as unknown here.
export type Options = Readonly<Record<string, Option<unknown>>>
export interface NumberRange {
  readonly min: number
  readonly max: number
  readonly unit?: string
}

export function integer(help: string, initial: number, range: NumberRange): Option<number> {
  const { min, max, unit } = range
  const parse = (text: string): Parsed<number> => {
    const value = readInteger(text)
    return value !== undefined && value >= min && value <= max
      ? { value }
      : { problem: `must be a whole number from ${min} to ${max}` }
  }
  const shown = unit === undefined ? String(initial) : `${initial} ${unit}`
  const option = { kind: 'value', help, placeholder: 'N', initial, shown, parse } as const
  return unit === undefined ? option : { ...option, unit }
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4
}

/** Bytes, with a unit if one likes: 512mb. */
export function size(help: string, shown: string): Option<number> {
  const parse = (text: string): Parsed<number> => {
    const found = /^(\d{1,15})([a-z]{0,2})$/i.exec(text)
    const unit = found?.[2].toLowerCase() ?? '?'
    const value = unit in SIZE_UNITS ? Number(found?.[1]) * SIZE_UNITS[unit] : NaN
    return Number.isSafeInteger(value)
      ? { value }
      : { problem: 'must be a number of bytes such as 512mb, or 0' }
  }
  return { kind: 'value', help, placeholder: 'SIZE', initial: 0, shown, parse }
}

/** A port, any free one (0), none at all (`off`), or one that is taken if it can be had. */
export type PortChoice = number | 'off' | undefined

export function port(help: string, usual: number): Option<PortChoice> {
  const parse = (text: string): Parsed<PortChoice> => {
    const value = text === 'off' ? text : readInteger(text)
    return value === 'off' || (value !== undefined && value >= 0 && value <= 65_535)
      ? { value }
      : { problem: 'must be a whole number from 0 to 65535, or off' }
  }
  const form = { placeholder: 'N|off', initial: undefined, shown: String(usual) } as const
  return { kind: 'value', help, ...form, parse }
}

/** A port that is closed unless it is given. */
export function replicaPort(help: string): Option<PortChoice> {
  return { ...port(help, 0), shown: 'off' }
}

/** A number that need not be whole, such as a weight. */
export function decimal(help: string, initial: number, range: NumberRange): Option<number> {
  const { min, max } = range
  const parse = (text: string): Parsed<number> => {
    const value = /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : NaN
    return value >= min && value <= max
      ? { value }
      : { problem: `must be a number from ${min} to ${max}` }
  }
  return { kind: 'value', help, placeholder: 'N', initial, shown: String(initial), parse }
}

export function choice<T extends string>(
  help: string,
  initial: T,
  choices: readonly T[]
): Option<T> {
  const parse = (text: string): Parsed<T> => {
    const value = choices.find((allowed) => allowed === text)
    return value === undefined ? { problem: `must be ${listChoices(choices)}` } : { value }
  }
  const placeholder = choices.join('|')
  return { kind: 'value', help, placeholder, initial, shown: initial, parse }
}

/** One of a few numbers. */
export function numberChoice(
  help: string,
  initial: number,
  choices: readonly number[]
): Option<number> {
  const parse = (text: string): Parsed<number> => {
    const value = choices.find((allowed) => allowed === readInteger(text))
    return value === undefined ? { problem: `must be ${listChoices(choices)}` } : { value }
  }
  return { kind: 'value', help, placeholder: 'N', initial, shown: String(initial), parse }
}

export interface TextForm {
  readonly placeholder: string
  /** What is wrong with it, or nothing. */
  readonly judge?: (text: string) => string | undefined
}

export function text(help: string, initial: string, form: TextForm): Option<string> {
  return { ...optionalText(help, form), initial, shown: initial } as Option<string>
}

export function optionalText(help: string, form: TextForm): Option<string | undefined> {
  const { placeholder, judge } = form
  const parse = (value: string): Parsed<string> => {
    const problem = judge?.(value)
    return problem === undefined ? { value } : { problem }
  }
  return { kind: 'value', help, placeholder, initial: undefined, shown: '', parse }
}

/** Given several times, or once with commas in between. */
export function list(help: string, form: TextForm): Option<readonly string[]> {
  const { placeholder, judge } = form
  const parse = (value: string): Parsed<readonly string[]> => {
    const items = value.split(',').map((item) => item.trim())
    const problem = items.map((item) => judge?.(item)).find((found) => found !== undefined)
    return problem === undefined ? { value: items } : { problem }
  }
  const gather = (before: readonly string[], value: readonly string[]): readonly string[] => [
    ...before,
    ...value
  ]
  return { kind: 'value', help, placeholder, initial: [], shown: '', parse, gather }
}

/** Digits only: `Number` would also take '', ' 7', '1e3' and '0x10'. */
function readInteger(value: string): number | undefined {
  return /^-?\d{1,15}$/.test(value) ? Number(value) : undefined
}

function listChoices(choices: readonly (string | number)[]): string {
  const last = choices[choices.length - 1]
  return choices.length < 2 ? String(last) : `${choices.slice(0, -1).join(', ')} or ${last}`
}
