/** A colour a node, in the order of the nodes: the same in the map and in the plots. */
import { nodes } from './model.js'
import { colour } from './theme.js'

/** Beyond this many nobody can tell colours apart. */
const COLOURED_MAX = 8

export function nodeColour(name: string): string {
  const place = nodes.value.findIndex((node) => node.name === name)
  return colour(place >= 0 && nodes.value.length <= COLOURED_MAX ? `node-${place + 1}` : 'muted')
}
