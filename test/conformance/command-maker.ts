/**
 * Random commands for the differential test: mostly sensible ones, so that keys get and keep contents, with
 * a share of hostile numbers, wrong types, unknown options and wrong numbers of arguments. Left out is what
 * Redis 7.0 does not know (SET IFEQ, ZRANK WITHSCORE), what no two servers answer alike (ranges by
 * member over different scores), and times so short that a millisecond could decide.
 */
import { latin1Bytes, latin1String } from '../../src/core/bytes.js'
import type { Random } from '../../src/core/random.js'
import { type Dumped, writeDump } from '../../src/commands/dump-format.js'
import { HashValue } from '../../src/store/values/hash-value.js'
import { ListValue } from '../../src/store/values/list-value.js'
import { SetValue } from '../../src/store/values/set-value.js'
import { ZsetValue } from '../../src/store/values/zset-value.js'

/** How two replies are held against each other. */
export type Comparison =
  | 'exact'
  /** Elements in any order. */
  | 'unordered'
  /** Pairs in any order. */
  | 'unordered-pairs'
  /** The same kind of reply with as many elements. */
  | 'shape'
  /** A number that may differ by the time between the two. */
  | 'seconds'
  | 'milliseconds'

export interface MadeCommand {
  readonly args: readonly string[]
  readonly comparison: Comparison
}

const INTEGERS = ['0', '1', '2', '3', '-1', '-2', '5', '10', '100']
const HOSTILE_INTEGERS = [
  '',
  'x',
  '+1',
  '01',
  '-0',
  ' 1',
  '1 ',
  '1.0',
  '1e3',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775807',
  '-9223372036854775809',
  '4611686018427387904',
  '9007199254740993',
  '123456789012345678901234567890',
  '1\x002'
]
/** Times that we keep only up to 2^53 are left out. */
const HOSTILE_TIMES = HOSTILE_INTEGERS.filter((text) => text !== '9007199254740993')
const FLOATS = ['0', '1', '-1', '2.5', '10.25', '-3.75', '1e3', '100', '.5', '5.', '+7', '3', '4']
const HOSTILE_FLOATS = [
  'inf',
  '-inf',
  '+Infinity',
  'nan',
  '-nan',
  '',
  ' 1',
  '1 ',
  'x',
  '1e400',
  '1e-400',
  '0x10',
  '0x1.8p1',
  '1e20',
  '1_0',
  '--1',
  '0e0',
  '-0',
  '1e',
  '17179869184.5'
]
const DECIMALS = ['0.1', '3.14', '-0.3', '1e-5', '123456.789', '2e10', '1.1e2', '99999999999.99']
const FIELDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'aa', 'ab', 'key:1', '1', '-5', '']
const VALUES = ['', 'v', 'hello', '1', '-7', '42', '3.5', 'a\r\nb', '\0\xff\x80', 'x'.repeat(200)]
const PATTERNS = [
  '*',
  'a*',
  '?',
  '[a-c]',
  '[^a]*',
  '*:*',
  '\\a',
  '[',
  'a[',
  '',
  'key:[0-9]',
  '[b-]c'
]
const LEX_BOUNDS = ['-', '+', '[a', '(a', '[c', '(e', '[', '(', '[zz', '[ab', '(aa']

/** Redis must understand what we dump, and so must we. */
function dumps(): string[] {
  const [list, set, hash, zset] = [
    new ListValue(),
    new SetValue(),
    new HashValue(),
    new ZsetValue()
  ]
  for (const text of ['a', 'b', '17', 'x'.repeat(100)]) {
    list.pushBack(text)
    set.add(text)
    hash.set(text, `${text}!`)
    zset.set(text, text.length / 3)
  }
  const values: Dumped[] = [
    latin1Bytes('v'),
    latin1Bytes('y'.repeat(20_000)),
    list,
    set,
    hash,
    zset
  ]
  return values.map((value) => {
    const bytes = writeDump(value)
    return latin1String(bytes, 0, bytes.length)
  })
}

const DUMPS = dumps()
const BAD_DUMPS = ['', '...', DUMPS[0].slice(1), `${DUMPS[2]}\0`, DUMPS[3].replace('a', 'c')]
/** Palermo, Catania, and points at the edges of the map. */
const GEO_SCORES = [
  '3479099956230698',
  '3479447370796909',
  '0',
  '1',
  '4503599627370495',
  '2251799813685248'
]
const BIT_TYPES = ['i8', 'u8', 'i16', 'u1', 'u63', 'i64', 'i5', 'u64', 'i65', 'x', 'u0', 'U8', 'i']

type Family = 'string' | 'hash' | 'list' | 'set' | 'zset' | 'any'
/** Each gets its turn equally often, however many commands it has. */
const FAMILIES: readonly Family[] = ['string', 'hash', 'list', 'set', 'zset', 'any']
type Maker = (make: CommandMaker) => string[]
type Entry = readonly [Family, Maker, Comparison?]

export class CommandMaker {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  next(): MadeCommand {
    const random = this.#random
    const family = random.pick(FAMILIES)
    const entries = ENTRIES.filter(([of]) => of === family)
    const [, maker, comparison = 'exact'] = random.pick(entries)
    const args = maker(this)
    // These mean something else with one argument more, or do since 7.2.
    const variadic = /^(del|unlink|exists|touch|zrank|zrevrank)$/.test(args[0])
    // SPOP without a count takes a member nobody can foresee.
    if (random.chance(0.02) && args.length > 1 && args[0] !== 'spop') args.pop()
    else if (random.chance(0.02) && !variadic) args.push(random.pick(['x', '1', 'nx', '']))
    if (random.chance(0.2)) args[0] = args[0].toUpperCase()
    return { args, comparison }
  }

  /** A key of the family, or now and then one of another. */
  key(family: Family): string {
    const random = this.#random
    const families = ['string', 'hash', 'list', 'set', 'zset']
    const own = family === 'any' || random.chance(0.03) ? random.pick(families) : family
    return `${own}${random.between(1, 3)}`
  }

  anyKey(): string {
    return this.#random.chance(0.1) ? 'lex' : this.key('any')
  }

  chance(probability: number): boolean {
    return this.#random.chance(probability)
  }

  pick<T>(items: readonly T[]): T {
    return this.#random.pick(items)
  }

  integer(): string {
    return this.pick(this.chance(0.08) ? HOSTILE_INTEGERS : INTEGERS)
  }

  /** For places where a large number would ask for much memory. */
  offset(): string {
    return this.chance(0.06)
      ? this.pick(['x', '-1', '', '999999999999', '01'])
      : this.integerUpTo(40)
  }

  integerUpTo(most: number): string {
    return String(this.#random.between(0, most))
  }

  float(): string {
    if (this.chance(0.08)) return this.pick(HOSTILE_FLOATS)
    if (this.chance(0.1)) return this.decimal()
    return this.pick(this.chance(0.2) ? DECIMALS : FLOATS)
  }

  /** Up to 24 digits and now and then an exponent. */
  decimal(): string {
    const digits = (most: number): string =>
      Array.from({ length: this.#random.between(1, most) }, () => this.integerUpTo(9)).join('')
    const exponent = this.chance(0.3) ? `e${this.#random.between(-25, 25)}` : ''
    return `${this.pick(['', '-'])}${digits(12)}.${digits(12)}${exponent}`
  }

  field(): string {
    return this.pick(FIELDS)
  }

  bitOffset(): string {
    if (this.chance(0.05)) return this.pick(['-1', 'x', '4294967296', '', '#-1', '99999999999999'])
    return this.integerUpTo(100)
  }

  bitfield(): string[] {
    const offset = this.chance(0.3) ? `#${this.integerUpTo(5)}` : this.bitOffset()
    const type = this.chance(0.2) ? this.pick(BIT_TYPES) : this.pick(BIT_TYPES.slice(0, 7))
    const value = this.chance(0.5) ? this.integer() : this.integerUpTo(400)
    switch (this.integerUpTo(4)) {
      case '0':
        return ['overflow', this.pick(['wrap', 'SAT', 'fail', 'x']), 'incrby', type, offset, value]
      case '1':
        return ['SET', type, offset, value]
      case '2':
        return ['incrby', type, offset, value]
      default:
        return ['get', type, offset]
    }
  }

  bitRange(): string[] {
    const range = [this.pick([this.integer(), this.integerUpTo(40)]), this.integer()]
    return [...range, ...this.maybe(0.5, this.pick(['bit', 'BYTE', 'x']))]
  }

  value(): string {
    return this.chance(0.3) ? this.integer() : this.chance(0.1) ? this.float() : this.pick(VALUES)
  }

  /** Of lists: mostly one of a few, so that searches find several. */
  element(): string {
    return this.chance(0.6) ? this.pick(['a', 'b', 'c']) : this.value()
  }

  pattern(): string {
    return this.pick(PATTERNS)
  }

  lexBound(): string {
    return this.chance(0.05) ? this.pick(['', 'a', '--', '+a']) : this.pick(LEX_BOUNDS)
  }

  scoreBound(): string {
    if (this.chance(0.2)) return this.pick(['-inf', '+inf', '(1', '(2.5', '(-inf', '('])
    return this.float()
  }

  /** Seconds far enough away, in the past, or none at all. */
  seconds(): string {
    if (this.chance(0.1)) return this.pick(HOSTILE_TIMES)
    return this.chance(0.1) ? this.pick(['0', '-1', '-1000']) : this.far()
  }

  far(): string {
    return String(this.#random.between(1000, 90_000_000))
  }

  some(most: number, of: () => string): string[] {
    return Array.from({ length: this.#random.between(1, most) }, of)
  }

  maybe(probability: number, ...args: string[]): string[] {
    return this.chance(probability) ? args : []
  }

  setOptions(): string[] {
    const options: string[] = []
    for (const word of ['NX', 'xx', 'GET', 'KEEPTTL']) options.push(...this.maybe(0.12, word))
    if (this.chance(0.1)) options.push('EX', this.seconds())
    if (this.chance(0.1)) options.push('px', `${this.far()}000`)
    if (this.chance(0.05)) options.push('EXAT', this.pick(['99999999999', '1', '0', 'x', '-5']))
    if (this.chance(0.05)) options.push('PXAT', this.pick(['99999999999999', '1', '0', '']))
    return [...options, ...this.maybe(0.03, 'foo'), ...this.maybe(0.02, 'EX')]
  }

  zaddOptions(): string[] {
    const options: string[] = []
    for (const word of ['nx', 'XX', 'gt', 'LT', 'ch', 'INCR'])
      options.push(...this.maybe(0.1, word))
    return options
  }

  rangeOptions(): string[] {
    const options: string[] = []
    options.push(...this.maybe(0.3, 'WITHSCORES'), ...this.maybe(0.3, 'byscore'))
    options.push(
      ...this.maybe(0.3, 'REV'),
      ...this.maybe(0.3, 'LIMIT', this.integer(), this.integer())
    )
    return [...options, ...this.maybe(0.03, 'foo')]
  }

  /** Always so that everything comes at once, or an error. */
  scanOptions(): string[] {
    if (this.chance(0.1))
      return this.pick([['COUNT', '0'], ['COUNT', 'x'], ['foo', '1'], ['MATCH']])
    const match = this.chance(0.5) ? ['match', this.pattern()] : []
    return [...match, 'COUNT', '1000']
  }
}

/** A plain command: its name, the family of its key, and what follows the key. */
function entry(
  family: Family,
  name: string,
  rest: (make: CommandMaker) => string[] = () => [],
  comparison: Comparison = 'exact'
): Entry {
  const key = (make: CommandMaker): string => (family === 'any' ? make.anyKey() : make.key(family))
  return [family, (make) => [name, key(make), ...rest(make)], comparison]
}

/** Ranges by member have a key of their own, whose members all have the score 0. */
function lexEntry(name: string, rest: (make: CommandMaker) => string[]): Entry {
  return ['zset', (make) => [name, 'lex', ...rest(make)]]
}

const pair = (make: CommandMaker): string[] => [make.field(), make.value()]
const lexPair = (make: CommandMaker): string[] => [make.lexBound(), make.lexBound()]
const lexLimit = (make: CommandMaker): string[] => [
  ...lexPair(make),
  ...make.maybe(0.3, 'LIMIT', make.integer(), make.integer())
]
const rankPair = (make: CommandMaker): string[] => [make.integer(), make.integer()]
const scorePair = (make: CommandMaker): string[] => [make.scoreBound(), make.scoreBound()]
const fields = (make: CommandMaker): string[] => make.some(4, () => make.field())
const values = (make: CommandMaker): string[] => make.some(4, () => make.value())
const elements = (make: CommandMaker): string[] => make.some(4, () => make.element())
const oneField = (make: CommandMaker): string[] => [make.field()]
const expireOptions = (make: CommandMaker): string[] =>
  make.chance(0.4) ? make.some(2, () => make.pick(['nx', 'XX', 'gt', 'LT', 'foo'])) : []

const STRING_ENTRIES: readonly Entry[] = [
  entry('string', 'set', (make) => [make.value(), ...make.setOptions()]),
  entry('string', 'set', (make) => [make.value()]),
  entry('string', 'get'),
  entry('string', 'getset', (make) => [make.value()]),
  entry('string', 'getdel'),
  entry('string', 'getex', (make) => [
    ...make.maybe(0.2, 'EX', make.seconds()),
    ...make.maybe(0.2, 'persist'),
    ...make.maybe(0.1, 'PXAT', make.pick(['1', '99999999999999', '0', 'x']))
  ]),
  entry('string', 'setnx', (make) => [make.value()]),
  entry('string', 'setex', (make) => [make.seconds(), make.value()]),
  entry('string', 'psetex', (make) => [`${make.seconds()}000`, make.value()]),
  entry('string', 'append', (make) => [make.value()]),
  entry('string', 'strlen'),
  entry('string', 'getrange', rankPair),
  entry('string', 'substr', rankPair),
  entry('string', 'setrange', (make) => [make.offset(), make.value()]),
  entry('string', 'incr'),
  entry('string', 'decr'),
  entry('string', 'incrby', (make) => [make.integer()]),
  entry('string', 'decrby', (make) => [make.pick([make.integer(), '-9223372036854775808'])]),
  entry('string', 'incrbyfloat', (make) => [make.float()])
]

/** Keys of their own: what is in them is not the same in all bytes, or means something. */
const OWN_ENTRIES: readonly Entry[] = [
  ['string', (make) => ['pfadd', make.pick(['hll1', 'hll2', 'list1']), ...values(make)]],
  ['zset', (make) => ['zadd', 'geo1', make.pick(GEO_SCORES), make.field()]],
  ['zset', (make) => ['geopos', 'geo1', ...fields(make)]],
  ['zset', (make) => ['geohash', make.pick(['geo1', 'none', 'set1']), ...fields(make)]],
  [
    'zset',
    (make) => [
      'geodist',
      'geo1',
      make.field(),
      make.field(),
      ...make.maybe(0.5, make.pick(['km', 'FT', 'mi', 'm', 'x']))
    ]
  ]
]

const BIT_ENTRIES: readonly Entry[] = [
  entry('string', 'setbit', (make) => [make.bitOffset(), make.pick(['0', '1', '1', '2', 'x'])]),
  entry('string', 'getbit', (make) => [make.bitOffset()]),
  entry('string', 'bitcount', (make) => (make.chance(0.5) ? make.bitRange() : [])),
  entry('string', 'bitpos', (make) => [
    make.pick(['0', '1', '2', 'x']),
    ...(make.chance(0.5) ? make.bitRange() : make.maybe(0.5, make.integer()))
  ]),
  entry('string', 'bitfield', (make) => [...make.bitfield(), ...make.bitfield()]),
  entry('string', 'bitfield_ro', (make) => make.bitfield())
]

const KEY_ENTRIES: readonly Entry[] = [
  entry('any', 'dump', () => [], 'shape'),
  // The same types as the keys are for.
  ...['string', 'list', 'set', 'hash', 'zset'].flatMap((family, i) =>
    ['restore', 'restore-asking'].map((name): Entry => [
      family as Family,
      (make) => [
        name,
        make.key(family as Family),
        make.pick(['0', '0', '-1', 'x', `${make.far()}000`]),
        make.chance(0.2) ? make.pick(BAD_DUMPS) : DUMPS[i === 0 ? i : i + 1],
        ...make.maybe(0.5, 'REPLACE'),
        ...make.maybe(0.1, make.pick(['idletime', 'FREQ', 'x']), make.pick(['5', '-1', '300', 'x']))
      ]
    ])
  ),
  entry('any', 'del'),
  entry('any', 'unlink'),
  entry('any', 'exists'),
  entry('any', 'touch'),
  entry('any', 'type'),
  entry('any', 'expire', (make) => [make.seconds(), ...expireOptions(make)]),
  entry('any', 'pexpire', (make) => [`${make.seconds()}000`, ...expireOptions(make)]),
  entry('any', 'expireat', (make) => [`1${make.far().padStart(10, '9')}`, ...expireOptions(make)]),
  entry('any', 'pexpireat', (make) => [make.pick(['99999999999999', '1', '-1', 'x', '0'])]),
  entry('any', 'persist'),
  entry('any', 'ttl', () => [], 'seconds'),
  entry('any', 'pttl', () => [], 'milliseconds'),
  entry('any', 'expiretime', () => [], 'seconds'),
  entry('any', 'pexpiretime', () => [], 'milliseconds'),
  // Seldom, since whatever the key was for, it is a string from then on.
  ['any', (make) => (make.chance(0.2) ? ['set', make.anyKey(), 'v'] : ['del', make.anyKey()])]
]

const HASH_ENTRIES: readonly Entry[] = [
  entry('hash', 'hset', (make) => [...pair(make), ...pair(make), ...make.maybe(0.05, 'odd')]),
  entry('hash', 'hset', pair),
  entry('hash', 'hmset', pair),
  entry('hash', 'hsetnx', pair),
  entry('hash', 'hget', oneField),
  entry('hash', 'hmget', fields),
  entry('hash', 'hdel', fields),
  entry('hash', 'hlen'),
  entry('hash', 'hstrlen', oneField),
  entry('hash', 'hexists', oneField),
  entry('hash', 'hkeys', () => [], 'unordered'),
  entry('hash', 'hvals', () => [], 'unordered'),
  entry('hash', 'hgetall', () => [], 'unordered-pairs'),
  entry('hash', 'hincrby', (make) => [make.field(), make.integer()]),
  entry('hash', 'hincrbyfloat', (make) => [make.field(), make.float()]),
  entry('hash', 'hrandfield', () => [], 'shape'),
  entry('hash', 'hrandfield', (make) => [make.pick(['3', '-4', '0', '100'])], 'shape'),
  entry('hash', 'hrandfield', (make) => [make.pick(['3', '-4', '0', 'x']), 'withvalues'], 'shape'),
  entry('hash', 'hscan', (make) => ['0', ...make.scanOptions()], 'unordered-pairs'),
  entry('hash', 'hscan', (make) => [make.pick(['x', '0x1', ' 1', '18446744073709551616'])])
]

const LIST_ENTRIES: readonly Entry[] = [
  entry('list', 'lpush', elements),
  entry('list', 'rpush', elements),
  entry('list', 'lpushx', elements),
  entry('list', 'rpushx', elements),
  entry('list', 'lpop', (make) => make.maybe(0.5, make.integer())),
  entry('list', 'rpop', (make) => make.maybe(0.5, make.integer())),
  entry('list', 'llen'),
  entry('list', 'lindex', (make) => [make.integer()]),
  entry('list', 'lset', (make) => [make.integer(), make.element()]),
  entry('list', 'linsert', (make) => [
    make.pick(['before', 'AFTER', 'BEFORE', 'after', 'on']),
    make.element(),
    make.element()
  ]),
  entry('list', 'lrem', (make) => [make.integer(), make.element()]),
  entry('list', 'ltrim', (make) => [make.pick(['0', '1', '-5', make.integer()]), make.integer()]),
  entry('list', 'lrange', rankPair),
  entry('list', 'lpos', (make) => [
    make.element(),
    ...make.maybe(0.4, 'rank', make.integer()),
    ...make.maybe(0.4, 'COUNT', make.integer()),
    ...make.maybe(0.4, 'maxlen', make.integer()),
    ...make.maybe(0.03, 'foo', '1')
  ])
]

const SET_ENTRIES: readonly Entry[] = [
  entry('set', 'sadd', fields),
  entry('set', 'sadd', values),
  entry('set', 'srem', fields),
  entry('set', 'scard'),
  entry('set', 'sismember', oneField),
  entry('set', 'smismember', fields),
  entry('set', 'smembers', () => [], 'unordered'),
  entry('set', 'spop', (make) => [make.pick(['0', '1000', '-1', 'x', '01'])], 'unordered'),
  entry('set', 'srandmember', () => [], 'shape'),
  entry('set', 'srandmember', (make) => [make.pick(['2', '-5', '0', '100', 'x'])], 'shape'),
  entry('set', 'sscan', (make) => ['0', ...make.scanOptions()], 'unordered')
]

const ZSET_ENTRIES: readonly Entry[] = [
  entry('zset', 'zadd', (make) => [
    ...make.zaddOptions(),
    make.float(),
    make.field(),
    ...make.maybe(0.2, make.float(), make.field()),
    ...make.maybe(0.03, 'odd')
  ]),
  entry('zset', 'zadd', (make) => [make.float(), make.field(), make.float(), make.field()]),
  entry('zset', 'zincrby', (make) => [make.float(), make.field()]),
  entry('zset', 'zrem', fields),
  entry('zset', 'zscore', oneField),
  entry('zset', 'zmscore', fields),
  entry('zset', 'zcard'),
  entry('zset', 'zcount', scorePair),
  entry('zset', 'zrank', oneField),
  entry('zset', 'zrevrank', oneField),
  entry('zset', 'zrange', (make) => [...rankPair(make), ...make.rangeOptions()]),
  entry('zset', 'zrange', (make) => [...scorePair(make), 'BYSCORE', ...make.rangeOptions()]),
  entry('zset', 'zrevrange', (make) => [...rankPair(make), ...make.maybe(0.3, 'withscores')]),
  entry('zset', 'zrangebyscore', (make) => [
    ...scorePair(make),
    ...make.maybe(0.4, 'LIMIT', make.integer(), make.integer()),
    ...make.maybe(0.3, 'WITHSCORES')
  ]),
  entry('zset', 'zrevrangebyscore', (make) => [
    ...scorePair(make),
    ...make.maybe(0.4, 'limit', make.integer(), make.integer()),
    ...make.maybe(0.03, 'rev')
  ]),
  entry('zset', 'zremrangebyrank', (make) => [make.integer(), make.integer()]),
  entry('zset', 'zremrangebyscore', scorePair),
  entry('zset', 'zpopmin', (make) => make.maybe(0.5, make.integer())),
  entry('zset', 'zpopmax', (make) => make.maybe(0.5, make.integer())),
  entry('zset', 'zrandmember', (make) => make.maybe(0.5, make.pick(['2', '-5', '100'])), 'shape'),
  entry('zset', 'zrandmember', (make) => [make.pick(['2', '-3', 'x']), 'withscores'], 'shape'),
  entry('zset', 'zscan', (make) => ['0', ...make.scanOptions()], 'unordered-pairs'),
  lexEntry('zadd', (make) => fields(make).flatMap((member) => ['0', member])),
  lexEntry('zadd', (make) => fields(make).flatMap((member) => ['0', member])),
  lexEntry('zrangebylex', lexLimit),
  lexEntry('zrevrangebylex', lexLimit),
  lexEntry('zlexcount', lexPair),
  lexEntry('zremrangebylex', lexPair),
  lexEntry('zrange', (make) => [
    ...lexPair(make),
    'BYLEX',
    ...make.maybe(0.3, 'REV'),
    ...make.maybe(0.1, 'withscores')
  ]),
  lexEntry('zrem', fields)
]

const ENTRIES: readonly Entry[] = [
  ...STRING_ENTRIES,
  ...OWN_ENTRIES,
  ...BIT_ENTRIES,
  ...KEY_ENTRIES,
  ...HASH_ENTRIES,
  ...LIST_ENTRIES,
  ...SET_ENTRIES,
  ...ZSET_ENTRIES
]

/** The names of all commands that are made. */
export function madeNames(): Set<string> {
  const names = new Set<string>()
  const make = new CommandMaker({
    pick: (items: readonly unknown[]) => items[0],
    chance: () => false,
    between: (low: number) => low
  } as unknown as Random)
  for (const [, maker] of ENTRIES) names.add(maker(make)[0])
  return names
}
