/** The floor at a moment: the highest of the fixed one and those of the schedule that cover it. */
import type { ScalingConfig, ScheduledMinimum } from './config.js'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 4

export function minimumAt(config: ScalingConfig, now: number): number {
  const minutes = Math.floor(now / MINUTE_MS) + config.utcOffsetMinutes
  let minimum = config.hostsMin
  for (const entry of config.schedule) {
    if (covers(entry, minutes)) minimum = Math.max(minimum, entry.hostsMin)
  }
  return Math.min(minimum, config.hostsMax)
}

function covers({ days, fromMinute, toMinute }: ScheduledMinimum, minutes: number): boolean {
  const minute = modulo(minutes, DAY_MINUTES)
  const today = modulo(Math.floor(minutes / DAY_MINUTES) + EPOCH_WEEKDAY, 7)
  const on = (day: number): boolean => days?.includes(day) ?? true
  if (fromMinute < toMinute) return on(today) && minute >= fromMinute && minute < toMinute
  // Over midnight: this evening's part, or the rest of what began yesterday.
  return (on(today) && minute >= fromMinute) || (on(modulo(today - 1, 7)) && minute < toMinute)
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
