/**
 * Branded ids, so that a bucket number cannot be passed where a node is meant. Inside one process
 * nodes are known by a small integer (their place in a table's list of names), because tables
 * of 4096 rows are compared and counted all the time; names appear on the wire and to people.
 */
export type NodeName = string & { readonly brand: 'NodeName' }

/** A node's place in a table's list of names; `NOBODY` where there is none. */
export type NodeIndex = number

export const NOBODY: NodeIndex = -1

/** Names travel in frames, file names and Redis replies: printable, without spaces, not too long. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$/

export function isNodeName(text: string): text is NodeName {
  return NAME.test(text)
}

export function nodeName(text: string): NodeName {
  if (!isNodeName(text)) throw new RangeError(`not a node name: ${JSON.stringify(text)}`)
  return text
}
