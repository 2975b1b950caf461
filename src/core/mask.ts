/**
 * A mask says how many buckets there are: 16, 256, 4096, or 16384, the most the Redis hash can
 * tell apart. A split multiplies the buckets by 16 (document 002 says 8 bits, its own examples show 4).
 */
export const MASKS = [0x000f, 0x00ff, 0x0fff, 0x3fff] as const

export const MASK_DEFAULT = 0x00ff
/** Splits stop here by themselves; 0x3FFF is only reached by hand. */
export const MASK_SPLIT_MAX = 0x0fff

export function isMask(mask: number): boolean {
  return (MASKS as readonly number[]).includes(mask)
}

export function maskOf(buckets: number): number {
  if (!isMask(buckets - 1)) {
    throw new RangeError(`buckets must be 16, 256, 4096 or 16384, not ${buckets}`)
  }
  return buckets - 1
}

/** The mask after a split, or the same one where there is none larger. */
export function nextMask(mask: number): number {
  return MASKS.find((larger) => larger > mask) ?? mask
}

export function formatMask(mask: number): string {
  return `0x${mask.toString(16).toUpperCase().padStart(4, '0')}`
}
