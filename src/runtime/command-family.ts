/** How many commands of each family were executed, by what COMMAND says of them. */
import { findSpec } from '../commands/command-specs.js'
import { COMMANDS } from '../commands/registry.js'
import type { DoorStatistics } from '../node/door/statistics.js'

const FAMILIES = [
  'string',
  'bitmap',
  'hash',
  'list',
  'set',
  'sortedset',
  'geo',
  'hyperloglog'
] as const

/** About keys whatever they hold; and what only other nodes ask for. */
const OTHERS = ['key', 'internal', 'aside'] as const

export type CommandFamily = (typeof FAMILIES)[number] | (typeof OTHERS)[number]

function familyOf(name: string): CommandFamily {
  const spec = findSpec(name)
  if (spec === undefined || name.startsWith('oc.')) return 'internal'
  return FAMILIES.find((family) => spec.categories.includes(`@${family}`)) ?? 'key'
}

const FAMILY_BY_PLACE = COMMANDS.map(({ name }) => familyOf(name))

export function countByFamily({ calls, aside }: DoorStatistics): Map<CommandFamily, number> {
  const counts = new Map<CommandFamily, number>()
  for (const family of [...FAMILIES, ...OTHERS]) counts.set(family, 0)
  counts.set('aside', aside)
  FAMILY_BY_PLACE.forEach((family, place) => {
    counts.set(family, (counts.get(family) ?? 0) + calls[place])
  })
  return counts
}
