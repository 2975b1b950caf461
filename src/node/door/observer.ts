/**
 * Who looks on while others work: MONITOR, the slow log, and latency events. Commands whose bucket is here are executed
 * just like that and not looked at, unless somebody wants to see all of them (`watchful`); those that take more than
 * that are timed by the node's clock, from when they came to when their reply was known. So what is slow here is what
 * had to wait: for another node, a bucket on its way, a pause.
 */
import { latin1String } from '../../core/bytes.js'
import { findSpec } from '../../commands/command-specs.js'
import type { Arguments } from '../../commands/arguments.js'
import type { Session, Slot } from '../session.js'
import type { DoorSettings } from './settings.js'

export interface SlowEntry {
  readonly id: number
  readonly seconds: number
  readonly micros: number
  readonly args: readonly string[]
  readonly from: string
  readonly client: string
}

export interface LatencyEvent {
  readonly seconds: number
  readonly ms: number
}

/** As many arguments, and as many bytes of each, as Redis shows. */
const SHOWN_ARGUMENTS_MAX = 32
const SHOWN_BYTES_MAX = 128
const HISTORY_MAX = 160
const SECRET = new Map([
  ['auth', 1],
  ['hello', 2]
])
/** Containers whose parts are about the server, as Redis sees it. */
const ADMINISTRATION = new Set(['config', 'latency', 'slowlog'])
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b'
}

/** In quotes, what cannot be printed as \xhh. */
function quote(text: string): string {
  let quoted = ''
  for (let i = 0; i < text.length; i++) {
    const letter = text.charAt(i)
    const code = text.charCodeAt(i)
    if (Object.hasOwn(ESCAPES, letter)) quoted += ESCAPES[letter]
    else if (code >= 0x20 && code < 0x7f) quoted += letter
    else quoted += `\\x${code.toString(16).padStart(2, '0')}`
  }
  return `"${quoted}"`
}

/** Passwords are nobody's business. */
function withoutSecrets(args: readonly string[]): string[] {
  const from = SECRET.get(args[0].toLowerCase())
  return from === undefined ? [...args] : args.map((text, i) => (i < from ? text : '(redacted)'))
}

function shorten(args: readonly string[]): string[] {
  const isLong = args.length > SHOWN_ARGUMENTS_MAX
  const shown = isLong ? args.slice(0, SHOWN_ARGUMENTS_MAX - 1) : args
  const texts = shown.map((text) =>
    text.length > SHOWN_BYTES_MAX
      ? `${text.slice(0, SHOWN_BYTES_MAX)}... (${text.length - SHOWN_BYTES_MAX} more bytes)`
      : text
  )
  if (isLong) texts.push(`... (${args.length - shown.length} more arguments)`)
  return texts
}

export class Observer {
  /** Every command is to be seen. */
  watchful = false
  readonly slow: SlowEntry[] = []
  readonly events = new Map<string, LatencyEvent[]>()
  readonly #monitors = new Set<Session>()
  readonly #settings: DoorSettings
  readonly #parse: (request: Uint8Array) => Arguments
  readonly #push: (session: Session, line: string) => void
  #nextId = 0
  #slowerMicros = 0
  #slowMax = 0
  #latencyMs = 0

  constructor(
    settings: DoorSettings,
    parts: {
      parse: (request: Uint8Array) => Arguments
      push: (session: Session, line: string) => void
    }
  ) {
    this.#settings = settings
    this.#parse = parts.parse
    this.#push = parts.push
    this.#update()
    settings.onChange(() => this.#update())
  }

  get monitors(): number {
    return this.#monitors.size
  }

  watch(session: Session): void {
    this.#monitors.add(session)
    this.#update()
  }

  forget(session: Session): void {
    if (this.#monitors.delete(session)) this.#update()
  }

  /** A command came; whoever monitors is told. */
  begun({ session, request }: Slot, nowMs: number): void {
    if (this.#monitors.size === 0 || session.remote !== undefined) return
    const args = this.#parse(request).texts(0)
    const spec = findSpec(args[0])
    if (spec === undefined || !isEnough(spec.arity, args.length)) return
    if (spec.flags.includes('admin') || ADMINISTRATION.has(spec.name)) return
    const seconds = Math.floor(nowMs / 1000)
    const micros = String(Math.floor((nowMs % 1000) * 1000)).padStart(6, '0')
    const words = withoutSecrets(args).map(quote).join(' ')
    for (const monitor of this.#monitors) {
      this.#push(monitor, `${seconds}.${micros} [0 ${session.origin.from}] ${words}`)
    }
  }

  /** Its reply is known. */
  ended(slot: Slot, nowMs: number): void {
    const waitedMs = nowMs - slot.beganMs
    const isSlow = this.#slowerMicros >= 0 && waitedMs * 1000 >= this.#slowerMicros
    const isLate = this.#latencyMs > 0 && waitedMs >= this.#latencyMs
    if (!(isSlow || isLate) || slot.session.remote !== undefined) return
    const args = this.#parse(slot.request)
    const spec = findSpec(args.text(0))
    if (spec === undefined || !isEnough(spec.arity, args.count)) return
    if (spec.flags.includes('skip_slowlog')) return
    // Whoever wants to wait is not slow.
    const ms = spec.flags.includes('blocking') ? 0 : waitedMs
    if (isLate && ms >= this.#latencyMs) this.#note('command', { ms, seconds: toSeconds(nowMs) })
    if (!isSlow || ms * 1000 < this.#slowerMicros || this.#slowMax === 0) return
    this.slow.unshift({
      id: this.#nextId++,
      seconds: toSeconds(nowMs),
      micros: Math.floor(ms * 1000),
      args: shorten(withoutSecrets(args.texts(0))),
      from: slot.session.origin.from,
      client: slot.session.client.name
    })
    this.#trim()
  }

  #note(name: string, event: LatencyEvent): void {
    const events = this.events.get(name) ?? []
    this.events.set(name, events)
    const last = events.at(-1)
    // One a second, the worst.
    if (last?.seconds === event.seconds) {
      if (event.ms > last.ms) events[events.length - 1] = event
    } else events.push(event)
    if (events.length > HISTORY_MAX) events.shift()
  }

  #trim(): void {
    if (this.slow.length > this.#slowMax) this.slow.length = this.#slowMax
  }

  #update(): void {
    this.#slowerMicros = this.#settings.number('slowlog-log-slower-than')
    this.#slowMax = this.#settings.number('slowlog-max-len')
    this.#latencyMs = this.#settings.number('latency-monitor-threshold')
    this.watchful = this.#monitors.size > 0 || this.#slowerMicros === 0
  }
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}

function isEnough(arity: number, count: number): boolean {
  return arity >= 0 ? count === arity : count >= -arity
}

/** Commands that are counted by their parts. */
const CONTAINERS = new Set([
  'client',
  'cluster',
  'command',
  'config',
  'function',
  'latency',
  'memory',
  'object',
  'pubsub',
  'slowlog'
])
const LINE_END = 0x0a
const NAME_BYTES_MAX = 32

/** The argument that begins behind the line of its length, which begins here; empty if it is long. */
function wordAt(request: Uint8Array, at: number): string {
  const start = request.indexOf(LINE_END, at) + 1
  const end = request.indexOf(LINE_END, start) - 1
  if (start === 0 || end < start || end - start > NAME_BYTES_MAX) return ''
  return latin1String(request, start, end - start).toLowerCase()
}

/**
 * `name` or, of a container, `name|part`, by which a command is counted; undefined if it is none. Looks at the
 * beginning of the request only, since it is asked about every command that gets a slot.
 */
export function countedName(request: Uint8Array): string | undefined {
  const first = request.indexOf(LINE_END) + 1
  const name = wordAt(request, first)
  if (findSpec(name) === undefined) return undefined
  if (!CONTAINERS.has(name)) return name
  const second = request.indexOf(LINE_END, request.indexOf(LINE_END, first) + 1) + 1
  const part = second === 0 || second >= request.length ? '' : wordAt(request, second)
  return part === '' ? name : `${name}|${part}`
}
