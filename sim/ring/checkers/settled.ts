/** Every change of the ring ends: one configuration, with nothing under way and exactly the nodes that stay. */
import type { RingChecker, RingView } from './checker.js'

export class SettledChecker implements RingChecker {
  readonly name = 'every change of the ring ends'

  problem({ nodes, staying }: RingView): string | undefined {
    for (const { name, joined, configuration } of nodes) {
      if (!staying.includes(name)) continue
      const { stage, members, version } = configuration
      if (!joined) return `${name} is not part of the ring`
      if (stage !== 'rest') return `${name} is at version ${version}, ${stage}`
      const hollow = members.find((member) => member.hollow)
      if (hollow !== undefined) return `${hollow.name} is hollow, says ${name}`
      const names = members.filter(({ positions }) => positions.length > 0).map((m) => m.name)
      if (names.join() !== [...staying].sort().join()) {
        return `${name} has the ring ${names.join()} at version ${version}, not ${staying.join()}`
      }
    }
    return undefined
  }
}
