/** At rest no copy is where it does not belong: so no record has more copies than its `from`. */
import { ringOf } from '../../../src/core/placement/ring-configuration.js'
import type { RingChecker, RingView } from './checker.js'
import { latin1String } from '../../../src/core/bytes.js'

export class RightPlacesChecker implements RingChecker {
  readonly name = 'no surplus copies at rest'

  problem({ nodes }: RingView): string | undefined {
    for (const { name, configuration, held } of nodes) {
      const ring = ringOf(configuration, 'positions')
      for (const { key, position, from } of held()) {
        if (ring.isReplica(name, position, from)) continue
        return `${name} holds ${latin1String(key, 0, key.length)}, from ${from}`
      }
    }
    return undefined
  }
}
