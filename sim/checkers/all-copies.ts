/** Every bucket reaches its copies: as many as were asked for, or as there are nodes. */
import { holdersOf, newestRows, type ClusterView } from '../cluster-view.js'
import type { RestChecker } from './checker.js'

export class AllCopiesChecker implements RestChecker {
  readonly name = 'every bucket reaches its copies'
  readonly isSafety = false

  problem(view: ClusterView): string | undefined {
    const wanted = Math.min(view.copies, view.staying.length)
    for (const row of newestRows(view.nodes)) {
      const holders = holdersOf(row)
      const gone = holders.find((name) => !view.staying.includes(name))
      if (gone !== undefined) return `bucket ${row.bucket} is still on ${gone}, which is gone`
      if (holders.length !== wanted || row.primary === null) {
        return `bucket ${row.bucket} has ${holders.length} copies of ${wanted}: ${holders.join(', ')}`
      }
    }
    return undefined
  }
}
