/** Numbers and times for people. */
const UNITS = ['', 'k', 'M', 'G', 'T']

export function formatCount(value: number): string {
  if (value < 1000) return String(Math.round(value))
  let [rest, unit] = [value, 0]
  while (rest >= 1000 && unit < UNITS.length - 1) {
    rest /= 1000
    unit++
  }
  return `${rest < 10 ? rest.toFixed(2) : rest < 100 ? rest.toFixed(1) : rest.toFixed(0)} ${UNITS[unit]}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`
  let [rest, unit] = [bytes, -1]
  while (rest >= 1024 && unit < 3) {
    rest /= 1024
    unit++
  }
  return `${rest < 10 ? rest.toFixed(2) : rest < 100 ? rest.toFixed(1) : rest.toFixed(0)} ${'KMGT'[unit]}B`
}

/** From microseconds. */
export function formatDuration(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`
  if (us < 1_000_000) return `${(us / 1000).toFixed(us < 10_000 ? 2 : 1)} ms`
  return `${(us / 1_000_000).toFixed(2)} s`
}

/** By hand: axes ask for it all the time, and the browser's own takes long. */
export function formatTime(ms: number): string {
  const date = new Date(ms)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** As the documents write buckets. */
export function formatBucket(bucket: number, size: number): string {
  return bucket
    .toString(16)
    .toUpperCase()
    .padStart(Math.ceil(Math.log2(Math.max(size, 2)) / 4), '0')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

/** A time that people wait: `40 s`, `16 min`, `2 h 5 min`. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`
}
