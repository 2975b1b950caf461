/**
 * The rules' numbers out of the configuration file, down to the last of them: a template without queues or a minimum
 * at 25 o'clock must be said when the program starts, not met in a pass. The table has a form for every knob there is;
 * the compiler refuses one that was forgotten. Whether the numbers fit each other is `findBadSetting`'s matter.
 */
import type { HostTemplate, ScalingConfig } from '../core/scaling/config.js'

type Form =
  | { readonly kind: 'number'; readonly least: number; readonly most: number }
  | { readonly kind: 'flag' | 'text' | 'resources' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'list'; readonly of: Form }
  | {
      readonly kind: 'object'
      readonly needed: Readonly<Record<string, Form>>
      readonly optional?: Readonly<Record<string, Form>>
    }
  /** An object whose field `kind` says which others it has. */
  | {
      readonly kind: 'variant'
      readonly forms: Readonly<Record<string, Readonly<Record<string, Form>>>>
    }

const DAY_MINUTES = 24 * 60
const number = (most: number, least = 0): Form => ({ kind: 'number', least, most })
const COUNT = number(1_000_000)
/** A year: longer is a matter of units. */
const TIME_MS = number(366 * DAY_MINUTES * 60_000)
const FLAG: Form = { kind: 'flag' }
const TEXTS: Form = { kind: 'list', of: { kind: 'text' } }
const BACK_OFF: Form = { kind: 'object', needed: { firstMs: TIME_MS, mostMs: TIME_MS } }
const QUEUE: Form = { kind: 'object', needed: { queue: { kind: 'text' }, slots: COUNT } }

const POLICY: Readonly<Record<keyof ScalingConfig, Form>> = {
  intervalMs: TIME_MS,
  hostsMin: COUNT,
  hostsMax: COUNT,
  addPerPass: COUNT,
  removePerPass: COUNT,
  jobWaitMs: TIME_MS,
  billing: {
    kind: 'variant',
    forms: { hour: { killAfterMinutes: number(59) }, second: { idleMs: TIME_MS } }
  },
  cooldownUpMs: TIME_MS,
  cooldownDownMs: TIME_MS,
  lookbackMs: TIME_MS,
  forecast: FLAG,
  forecastSamplesMin: COUNT,
  workPerHostMs: TIME_MS,
  bootMs: TIME_MS,
  bootTimeoutMs: TIME_MS,
  bootBackOff: BACK_OFF,
  bootFailuresMax: COUNT,
  capacityBackOff: BACK_OFF,
  unreadyFractionMax: number(1),
  unreadyMin: COUNT,
  deadAfterMs: TIME_MS,
  queues: TEXTS,
  template: {
    kind: 'object',
    needed: { slots: number(1_000_000, 1) },
    optional: {
      queues: { kind: 'list', of: QUEUE },
      resources: { kind: 'resources' },
      pricePerHour: COUNT
    }
  },
  protectedHosts: TEXTS,
  schedule: {
    kind: 'list',
    of: {
      kind: 'object',
      needed: {
        fromMinute: number(DAY_MINUTES),
        toMinute: number(DAY_MINUTES),
        hostsMin: COUNT
      },
      optional: { days: { kind: 'list', of: number(6) } }
    }
  },
  utcOffsetMinutes: number(DAY_MINUTES, -DAY_MINUTES),
  consolidate: FLAG,
  removal: { kind: 'choice', choices: ['terminate', 'stop'] },
  killCluster: FLAG,
  factsAgeMaxMs: TIME_MS,
  clockSkewMaxMs: TIME_MS
}

/** Says all that is wrong, each with its place; names as in the code (`jobWaitMs`), document 004's names are flags. */
export function readPolicySettings(
  value: unknown,
  where: string,
  complain: (problem: string) => unknown
): Partial<ScalingConfig> {
  if (value === undefined) return {}
  check(value, where, { form: { kind: 'object', needed: {}, optional: POLICY }, complain })
  if (!isObject(value)) return {}
  const policy = value as Partial<ScalingConfig>
  const { template } = policy
  if (!isObject(template) || Object.hasOwn(template, 'queues')) return policy
  return { ...policy, template: { ...policy.template, queues: [] } as HostTemplate }
}

interface Check {
  readonly form: Form
  readonly complain: (problem: string) => unknown
}

function check(value: unknown, where: string, { form, complain }: Check): void {
  const wrong = findWrong(value, form)
  if (wrong !== undefined) {
    complain(`${where}: must be ${wrong}`)
  } else if (form.kind === 'list') {
    for (const [index, entry] of (value as unknown[]).entries()) {
      check(entry, `${where}[${index}]`, { form: form.of, complain })
    }
  } else if (form.kind === 'object') {
    checkFields(value as Fields, where, { ...form, complain })
  } else if (form.kind === 'variant') {
    const { kind, ...rest } = value as Fields
    checkFields(rest, where, { needed: form.forms[kind as string] ?? {}, complain })
  }
}

type Fields = Readonly<Record<string, unknown>>

function checkFields(
  value: Fields,
  where: string,
  {
    needed,
    optional = {},
    complain
  }: Pick<Form & { kind: 'object' }, 'needed' | 'optional'> & Pick<Check, 'complain'>
): void {
  const forms = { ...optional, ...needed }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(forms, name)) complain(`${where}.${name}: no such setting`)
  }
  for (const name of Object.keys(needed)) {
    if (!Object.hasOwn(value, name)) complain(`${where}.${name}: is missing`)
  }
  for (const [name, given] of Object.entries(value)) {
    if (Object.hasOwn(forms, name))
      check(given, `${where}.${name}`, { form: forms[name], complain })
  }
}

/** What it has to be instead, as far as its own level goes. */
function findWrong(value: unknown, form: Form): string | undefined {
  switch (form.kind) {
    case 'number': {
      const fits = typeof value === 'number' && value >= form.least && value <= form.most
      return fits ? undefined : `a number from ${form.least} to ${form.most}`
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'text':
      return typeof value === 'string' && value !== '' ? undefined : 'a text'
    case 'choice':
      return form.choices.includes(value as string) ? undefined : form.choices.join(' or ')
    case 'list':
      return Array.isArray(value) ? undefined : 'a list'
    case 'object':
      return isObject(value) ? undefined : 'an object'
    case 'variant': {
      const kinds = Object.keys(form.forms)
      const fits = isObject(value) && kinds.includes(value['kind'] as string)
      return fits ? undefined : `an object whose kind is ${kinds.join(' or ')}`
    }
    case 'resources': {
      const fits =
        isObject(value) &&
        Object.values(value).every((one) => typeof one === 'string' || Number.isFinite(one))
      return fits ? undefined : 'an object of texts and numbers'
    }
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
