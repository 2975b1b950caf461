/**
 * One way to time small pieces of code: run the body several times, keep the fastest round. The
 * machine is shared, and everything that disturbs a round makes it slower, never faster.
 */
export interface Measurement {
  readonly name: string
  readonly operations: number
  readonly nsPerOperation: number
  readonly perSecond: number
}

const ROUNDS = 7

/** `body` does `operations` operations and returns a number that depends on all of them. */
export function measure(name: string, operations: number, body: () => number): Measurement {
  let best = Infinity
  let sink = 0
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now()
    sink += body()
    best = Math.min(best, performance.now() - startMs)
  }
  // The result is looked at, so that the optimiser may not drop the work.
  if (Number.isNaN(sink)) throw new Error(`${name}: the body must return a number`)
  const nsPerOperation = (best * 1e6) / operations
  return { name, operations, nsPerOperation, perSecond: 1e9 / nsPerOperation }
}
