/** All tables are equal at rest, and so is who they take for a member. */
import type { ClusterView } from '../cluster-view.js'
import type { RestChecker } from './checker.js'

export class EqualTablesChecker implements RestChecker {
  readonly name = 'all tables are equal at rest'
  readonly isSafety = false

  problem(view: ClusterView): string | undefined {
    const first = view.nodes.at(0)
    if (first === undefined) return 'no node is up'
    for (const node of view.nodes) {
      if (node.mask !== first.mask) {
        return `${first.name} has the mask ${first.mask}, ${node.name} has ${node.mask}`
      }
      if (node.digest !== first.digest) return `the tables of ${first.name} and ${node.name} differ`
      for (const name of view.staying) {
        const member = node.members.find((it) => it.name === name)
        if (member === undefined) return `${node.name} does not know ${name}`
        if (member.dead || member.state !== 'alive') {
          return `${node.name} takes ${name} for ${member.dead ? 'dead' : member.state}`
        }
      }
    }
    return undefined
  }
}
