/**
 * When buckets are cut in 16. A node whose ideal has fallen to the threshold has too few pieces to balance
 * with; a bucket far larger than the rest cannot be balanced by counting at all. Buckets are never
 * merged back: many small ones on few nodes do no harm.
 *
 * The ideal decides, not the count of the moment: a node that has just joined holds nothing yet, and must not
 * make everyone split.
 */
import { MASK_SPLIT_MAX, formatMask, nextMask } from '../mask.js'
import { allow, deny, type Verdict } from './action.js'
import type { View } from './view.js'

const RULE = 'split'

export function judgeSplit(view: View): Verdict {
  const { splitAt, table, ideal, roster } = view
  if (splitAt <= 0) return deny(RULE, 'splitting is off')
  if (roster.staying.length < 2) return deny(RULE, 'one node alone needs no more buckets')
  const larger = nextMask(table.mask)
  if (larger > view.splitMaskMax || larger === table.mask) {
    return deny(RULE, `${table.size} buckets are the most`)
  }
  if (ideal > splitAt) return deny(RULE, `the ideal of ${ideal} is above ${splitAt}`)
  return allow(RULE, `the ideal has fallen to ${ideal}; the mask becomes ${formatMask(larger)}`)
}

export interface BucketSize {
  readonly bucket: number
  readonly bytes: number
}

export interface OversizeOptions {
  /** How many times the mean is drastically larger; 0 never splits for size. */
  readonly factor: number
  /** Small buckets differ by chance; below this many bytes nobody minds. */
  readonly bytesMin: number
  readonly mask: number
  readonly splitMaskMax?: number
}

/** Whether one bucket is so much larger than the rest that cutting it is the only way to spread it. */
export function judgeOversize(sizes: readonly BucketSize[], options: OversizeOptions): Verdict {
  const rule = 'split-oversize'
  if (options.factor <= 0 || sizes.length < 2) return deny(rule, 'splitting for size is off')
  const larger = nextMask(options.mask)
  if (larger > (options.splitMaskMax ?? MASK_SPLIT_MAX) || larger === options.mask) {
    return deny(rule, `${options.mask + 1} buckets are the most`)
  }
  let largest = sizes[0]
  let sum = 0
  for (const size of sizes) {
    sum += size.bytes
    if (size.bytes > largest.bytes) largest = size
  }
  const mean = (sum - largest.bytes) / (sizes.length - 1)
  if (largest.bytes < options.bytesMin || largest.bytes <= mean * options.factor) {
    return deny(rule, 'no bucket is far larger than the rest')
  }
  const times =
    mean === 0 ? 'all others together' : `${Math.floor(largest.bytes / mean)} times the mean`
  return allow(rule, `bucket ${largest.bucket} has ${largest.bytes} bytes, ${times}`)
}
