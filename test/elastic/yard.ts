/**
 * How fast this processor is just now. A limit in seconds of CPU is meant for a processor of its own; on one that is slower, or
 * shared with other things, it is as much longer as a known piece of work takes there.
 */

/** So long the piece of work takes on the slowest processor for which the limits are meant. */
const YARD_SECONDS = 0.015
const YARD_ROUNDS = 40

/** What a limit is here, given the shortest time that `measureYard` gave meanwhile. */
export function stretch(seconds: number, yard: number): number {
  return seconds * Math.max(1, yard / YARD_SECONDS)
}

/** Texts made, read and sorted, as a pass does; in seconds of CPU. */
export function measureYard(): number {
  const before = process.cpuUsage()
  for (let round = 0; round < YARD_ROUNDS; round++) {
    const jobs = Array.from({ length: 1000 }, (_, i) => ({
      id: (i * 7919) % 1000,
      name: `job ${i}`
    }))
    const read = JSON.parse(JSON.stringify(jobs)) as typeof jobs
    read.sort((a, b) => a.id - b.id)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
