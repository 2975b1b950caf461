/**
 * What CONFIG GET says and CONFIG SET takes. Values are checked as Redis checks them, with its words, since clients
 * and their tests compare them; a setting with two names has one value.
 */
import { EVICTION_POLICIES } from '../../core/eviction-policy.js'
import type { NodeConfig } from '../config.js'
import type { Eviction } from '../eviction.js'
import { SETTING_LINES } from './setting-table.js'

interface Setting {
  readonly name: string
  readonly kind: string
  readonly words: readonly string[]
  value: string
}

/** What is to be kept, or why it is refused. */
type Checked = { readonly value: string } | { readonly why: string }

const UNITS: Readonly<Record<string, bigint>> = {
  '': 1n,
  b: 1n,
  k: 1000n,
  kb: 1024n,
  m: 1000n ** 2n,
  mb: 1024n ** 2n,
  g: 1000n ** 3n,
  gb: 1024n ** 3n
}
const INTEGER = /^(?:0|-?[1-9]\d*)$/
const PERCENT_MAX = 100n

function checkNumber(text: string, { kind, words }: Setting): Checked {
  const bytes = /^(-?\d+)([a-z]*)$/i.exec(text)
  const unit = bytes?.[2].toLowerCase() ?? ''
  if (kind === 'percent' && /^\d+%$/.test(text)) {
    const isTooMuch = BigInt(text.slice(0, -1)) > PERCENT_MAX
    return isTooMuch ? { why: 'percentage argument must be less or equal to 100' } : { value: text }
  }
  if (kind === 'integer' && !INTEGER.test(text)) {
    return { why: "argument couldn't be parsed into an integer" }
  }
  if (bytes === null || !Object.hasOwn(UNITS, unit)) {
    return { why: `argument must be a memory ${kind === 'percent' ? 'or percent ' : ''}value` }
  }
  const value = BigInt(bytes[1]) * UNITS[unit]
  const [least, most] = words
  if (value >= BigInt(least) && value <= BigInt(most)) return { value: value.toString() }
  return { why: `argument must be between ${least} and ${most} inclusive` }
}

function check(text: string, setting: Setting): Checked {
  const { kind, words } = setting
  switch (kind) {
    case 'boolean': {
      const word = text.toLowerCase()
      return word === 'yes' || word === 'no'
        ? { value: word }
        : { why: "argument must be 'yes' or 'no'" }
    }
    case 'integer':
    case 'bytes':
    case 'percent':
      return checkNumber(text, setting)
    case 'one': {
      const found = words.slice(1).find((word) => word === text.toLowerCase())
      const all = words.slice(1).join(', ')
      return found === undefined
        ? { why: `argument(s) must be one of the following: ${all}` }
        : { value: found }
    }
    default:
      return { value: text }
  }
}

export class DoorSettings {
  readonly #settings = new Map<string, Setting>()
  readonly #heard: (() => void)[] = []

  constructor({ address, maxRequestBytes, maxMemory, eviction }: NodeConfig) {
    for (const [name, value, form, alias] of SETTING_LINES) {
      const [kind, ...words] = form.split(' ')
      const setting = { name, kind, words, value }
      this.#settings.set(name, setting)
      if (alias !== undefined) this.#settings.set(alias, setting)
    }
    this.#put('proto-max-bulk-len', String(maxRequestBytes))
    this.#put('maxmemory', String(maxMemory))
    this.#put('maxmemory-policy', eviction)
    this.#put('port', /:(\d+)$/.exec(address)?.[1] ?? '0')
    this.#put('bind', address.replace(/:\d+$/, ''))
  }

  /** Without the hidden ones. */
  get names(): string[] {
    return [...this.#settings].filter(([, { kind }]) => kind !== 'hidden').map(([name]) => name)
  }

  get(name: string): string | undefined {
    return this.#settings.get(name)?.value
  }

  number(name: string): number {
    return Number(this.get(name) ?? 0)
  }

  /** Why this cannot be set to that, if it cannot. */
  refusal(name: string, value: string): string | undefined {
    const setting = this.#settings.get(name)
    if (setting === undefined) return undefined
    if (setting.kind === 'fixed') return "can't set immutable config"
    const checked = check(value, setting)
    if ('why' in checked) return checked.why
    if (checked.value === setting.value) return undefined
    if (name === 'port') return 'Unable to listen on this port. Check server logs.'
    // Whoever sets one believes that the door is locked from then on.
    if (name === 'requirepass') return 'there are no passwords; anybody may connect'
    return name === 'bind' ? 'Failed to bind to specified addresses.' : undefined
  }

  /** Whether two names mean the same setting. */
  isSame(one: string, other: string): boolean {
    return this.#settings.get(one) === this.#settings.get(other)
  }

  /** The caller has asked for a refusal. */
  set(name: string, value: string): void {
    const setting = this.#settings.get(name)
    if (setting === undefined) return
    const checked = check(value, setting)
    if ('value' in checked) setting.value = checked.value
    for (const hear of this.#heard) hear()
  }

  /** Calls back after every change. */
  onChange(hear: () => void): void {
    this.#heard.push(hear)
  }

  /** What the memory's limit is set to, to whoever keeps it. */
  limit(eviction: Pick<Eviction, 'limitBytes' | 'policy' | 'samples'>): void {
    const policy = this.get('maxmemory-policy')
    eviction.limitBytes = this.number('maxmemory')
    eviction.samples = this.number('maxmemory-samples')
    eviction.policy = EVICTION_POLICIES.find((known) => known === policy) ?? 'noeviction'
  }

  #put(name: string, value: string): void {
    const setting = this.#settings.get(name)
    if (setting !== undefined) setting.value = value
  }
}
