/**
 * Document 004, removing, 1: no jobs are waiting. Asked of each host: a job keeps the hosts it could
 * run on, and one that no host can help keeps none. Jobs that may start before a host could be brought
 * back keep all.
 */
import type { HostRule } from '../rule.js'

export const nothingWaits: HostRule = {
  name: 'nothing-waits',
  facts: ({ demand }) => ({
    waiting: demand.helpable.length + demand.present.length,
    soon: demand.soon
  }),
  refuse({ demand, room }, host) {
    if (demand.soon > 0) return 'a job may start within minutes'
    if (demand.shapes.size === 0) return undefined
    const bin = room.binOf(host, true)
    for (const [shape, job] of demand.shapes) {
      if (room.fit(shape, bin) > 0) return `job ${job} waits and could run on ${host.name}`
    }
    return undefined
  }
}
