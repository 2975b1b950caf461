/**
 * Rule 8 of document 000: "do not transfer a bucket if source node does not have an ideal number of
 * buckets already". Read as the original code has it: the source must have more than the ideal, so that it still
 * has the ideal afterwards. The document's six-node state demands that reading: it is at rest because
 * "anything we do will just reduce the other nodes from being ideal". With "at least the ideal", the
 * last bucket would be handed to and fro until a node with a real surplus happened to ask.
 */
import { allow, deny, type Verdict } from '../action.js'
import type { Candidate } from '../rule.js'

const RULE = 'source-at-ideal'

export function sourceAtIdeal({ view, action, source }: Candidate): Verdict {
  if (action.kind !== 'move') return allow(RULE, 'nothing is given away')
  const total = source.primaries + source.backups
  const { ideal } = view
  const name = view.nameOf(source.node)
  return total > ideal
    ? allow(RULE, `${name} has ${total}, above the ideal of ${ideal}`)
    : deny(RULE, `${name} has ${total}, not above the ideal of ${ideal}`)
}
