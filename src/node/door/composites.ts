/** All commands about several keys, by their names. */
import type { Arguments } from '../../commands/arguments.js'
import { BIT_COMPOSITES } from '../../commands/bits.js'
import { BLOCKING } from '../../commands/blocking.js'
import { CARDINALITY_COMPOSITES } from '../../commands/cardinality.js'
import { LCS } from '../../commands/common-string.js'
import type { Composite } from '../../commands/composite.js'
import { GEO_COMPOSITES } from '../../commands/geo-search.js'
import { ITEM_COMPOSITES } from '../../commands/item-copy.js'
import { LIST_COMPOSITES } from '../../commands/list-move.js'
import { SET_COMPOSITES } from '../../commands/set-algebra.js'
import { ZSET_COMPOSITES } from '../../commands/zset-algebra.js'
import { MEMORY_USAGE, OBJECT_PARTS } from '../../commands/object.js'
import { EACH_KEY, MSETNX } from '../../commands/several-keys.js'
import { SORT, SORT_RO } from '../../commands/sort.js'

export const COMPOSITES: readonly Composite[] = [
  ...ITEM_COMPOSITES,
  ...SET_COMPOSITES,
  ...LIST_COMPOSITES,
  ...ZSET_COMPOSITES,
  ...BIT_COMPOSITES,
  ...CARDINALITY_COMPOSITES,
  ...GEO_COMPOSITES,
  LCS
]

const BY_NAME = new Map(
  [
    ...COMPOSITES,
    ...BLOCKING,
    SORT,
    SORT_RO,
    MSETNX,
    ...EACH_KEY,
    ...OBJECT_PARTS,
    MEMORY_USAGE
  ].map((one) => [one.name, one])
)

/** The composite that these arguments call, parts of containers included. */
export function compositeOf(args: Arguments): Composite | undefined {
  const name = args.word(0)
  const found = BY_NAME.get(name) ?? BY_NAME.get(`${name}|${args.word(1)}`)
  if (found === undefined) return undefined
  const { arity } = found
  const fits = arity >= 0 ? args.count === arity : args.count >= -arity
  return fits ? found : undefined
}
