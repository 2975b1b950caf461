/**
 * What COMMAND DOCS says of the arguments of a command, from one line in the notation that people write:
 *
 *     sequence := item*
 *     item     := (word | '[' choice ']' | '(' choice ')') '...'?
 *     choice   := (name '=')? sequence ('|' sequence)*
 *
 * A word in capitals is a token and said as it is; any other is the name of an argument. Brackets make optional what is
 * in them, parentheses hold together, `...` says that there may be several, a bar that it is one or the other. A token
 * that begins a choice stands before all that follows there: `EX seconds` is one argument with a token, `LIMIT offset
 * count` a block with one. `[GET pattern]...` repeats the token, `[ID id...]` has it once.
 *
 * The type of an argument follows from its name, so that names are the same everywhere; where it does not, it is said:
 * `min:double`. Redis writes all this down as data; a line is shorter, and is read by people and by a test.
 */
import { assert } from '../../core/assert.js'

type ArgumentType =
  | 'block'
  | 'double'
  | 'integer'
  | 'key'
  | 'oneof'
  | 'pattern'
  | 'pure-token'
  | 'string'
  | 'unix-time'

type ArgumentFlag = 'optional' | 'multiple' | 'multiple_token'

export interface SyntaxArgument {
  readonly name: string
  readonly type: ArgumentType
  readonly token?: string
  readonly flags: readonly ArgumentFlag[]
  /** What a block is made of, or what there is to choose from. */
  readonly parts: readonly SyntaxArgument[]
}

/** What is not named here is a string. */
const NAMES: readonly (readonly [ArgumentType, string])[] = [
  ['key', 'key key1 key2 newkey source destination'],
  ['pattern', 'pattern'],
  ['unix-time', 'unix-time-seconds unix-time-milliseconds'],
  ['double', 'timeout score weight longitude latitude radius width height'],
  [
    'integer',
    'seconds milliseconds ttl count offset index start stop end limit rank len cursor numkeys ' +
      'numreplicas increment decrement bit frequency protover database client-id slot ' +
      'start-slot end-slot port config-epoch'
  ]
]

const TYPES = new Map(
  NAMES.flatMap(([type, names]) => names.split(' ').map((name) => [name, type] as const))
)

const SIGNS = /\.\.\.|[[\]()|]|[^\s[\]()|.=]+=?|\S/g
const TOKEN = /^[A-Z][A-Z-]*$/
const END = ''
const ENDS: ReadonlySet<string> = new Set([END, '|', ']', ')'])
/** Most arguments have no flags and no parts; they share this. */
const NONE: readonly never[] = []

class SyntaxReader {
  readonly #signs: readonly string[]
  #place = 0

  constructor(syntax: string) {
    this.#signs = syntax.match(SIGNS) ?? []
  }

  readAll(): SyntaxArgument[] {
    const sequence = this.#readSequence()
    assert(this.#sign === END, `nothing opens what ${this.#sign} closes`)
    return sequence
  }

  get #sign(): string {
    return this.#signs.at(this.#place) ?? END
  }

  /** Whether this sign is next; if so, it is read. */
  #accept(sign: string): boolean {
    const found = this.#sign === sign
    if (found) this.#place++
    return found
  }

  #readSequence(): SyntaxArgument[] {
    const items: SyntaxArgument[] = []
    while (!ENDS.has(this.#sign)) items.push(this.#readItem())
    return items
  }

  #readItem(): SyntaxArgument {
    const item = this.#readOne()
    if (!this.#accept('...')) return item
    const more: ArgumentFlag[] =
      item.token === undefined ? ['multiple'] : ['multiple', 'multiple_token']
    return { ...item, flags: [...item.flags, ...more] }
  }

  #readOne(): SyntaxArgument {
    if (this.#accept('[')) {
      const item = this.#readChoice(']')
      return { ...item, flags: ['optional', ...item.flags] }
    }
    if (this.#accept('(')) return this.#readChoice(')')
    const word = this.#sign
    assert(/^[A-Za-z]/.test(word) && !word.endsWith('='), `${word} is no argument`)
    this.#place++
    return readWord(word)
  }

  #readChoice(close: string): SyntaxArgument {
    const name = this.#sign.endsWith('=') ? this.#sign.slice(0, -1) : undefined
    if (name !== undefined) this.#place++
    const items = [unite(this.#readSequence())]
    while (this.#accept('|')) items.push(unite(this.#readSequence()))
    assert(this.#accept(close), `${close} is missing`)
    const item = items.length === 1 ? items[0] : group('oneof', items)
    return name === undefined ? item : { ...item, name }
  }
}

function readWord(word: string): SyntaxArgument {
  if (TOKEN.test(word)) {
    return { name: word.toLowerCase(), type: 'pure-token', token: word, flags: NONE, parts: NONE }
  }
  const [name, said] = word.split(':') as [string, ArgumentType | undefined]
  return { name, type: said ?? TYPES.get(name) ?? 'string', flags: NONE, parts: NONE }
}

function group(type: 'block' | 'oneof', parts: readonly SyntaxArgument[]): SyntaxArgument {
  return { name: parts.map(({ name }) => name).join('_'), type, flags: NONE, parts }
}

/** One argument of a sequence; a token that begins it is the token of the rest. */
function unite(items: readonly SyntaxArgument[]): SyntaxArgument {
  assert(items.length > 0, 'there is nothing to choose')
  const [first, ...rest] = items
  if (rest.length === 0) return first
  const { token } = first
  if (token === undefined || first.type !== 'pure-token' || first.flags.length > 0) {
    return group('block', items)
  }
  const [next] = rest
  const isFree = rest.length === 1 && next.token === undefined && !next.flags.includes('optional')
  return { ...(isFree ? next : group('block', rest)), token }
}

export function parseSyntax(syntax: string): SyntaxArgument[] {
  return new SyntaxReader(syntax).readAll()
}
