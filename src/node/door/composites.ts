/** All commands about several keys, by their names. */
import type { Arguments } from '../../commands/arguments.js'
import type { Composite } from '../../commands/composite.js'
import { MEMORY_USAGE, OBJECT_PARTS } from '../../commands/object.js'
import { EACH_KEY, MSETNX } from '../../commands/several-keys.js'

export const COMPOSITES: readonly Composite[] = [MSETNX]

const BY_NAME = new Map(
  [...COMPOSITES, ...EACH_KEY, ...OBJECT_PARTS, MEMORY_USAGE].map((one) => [one.name, one])
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
