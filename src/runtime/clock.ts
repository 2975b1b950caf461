/**
 * The node's time: milliseconds that look like the wall clock's but never go back. The wall clock is
 * read once; from then on the monotone clock counts, since a clock set back would revive expired
 * items and a clock set forward would make everybody look dead.
 */
export interface Clock {
  now(): number
}

/** It is cut to whole milliseconds; rather a little ahead than behind those who read the same clock finer. */
const CUT_MS = 1

/** `startMs`: what the wall clock says now. */
export function createClock(startMs: number = Date.now()): Clock {
  const offsetMs = startMs + CUT_MS - performance.now()
  return { now: () => Math.floor(offsetMs + performance.now()) }
}
