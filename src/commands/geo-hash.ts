/**
 * Places on the globe as scores: longitude and latitude, 26 bits each, interleaved to 52 bits, so that a square of the
 * map is a range of scores. Distances are along great circles of a ball. The arithmetic is done in the order in
 * which Redis does it, so that the last digits are the same.
 */

export interface Point {
  readonly longitude: number
  readonly latitude: number
}

/** A square of the map: column and row among 2^step by 2^step. */
export interface Square {
  readonly column: number
  readonly row: number
  readonly step: number
}

export const LONGITUDE_MAX = 180
export const LATITUDE_MAX = 85.05112878
const STEP_MAX = 26
const HALF_BITS = 2 ** 26
const EARTH_METERS = 6372797.560856
const MERCATOR_METERS = 20037726.37
const DEGREE = Math.PI / 180
const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'

function toRadians(degrees: number): number {
  return degrees * DEGREE
}

function toDegrees(radians: number): number {
  return radians / DEGREE
}

/** 16 bits to every second of 32. */
function spread(bits: number): number {
  let x = bits & 0xffff
  x = (x | (x << 8)) & 0x00ff00ff
  x = (x | (x << 4)) & 0x0f0f0f0f
  x = (x | (x << 2)) & 0x33333333
  return (x | (x << 1)) & 0x55555555
}

/** Back again. */
function gather(bits: number): number {
  let x = bits & 0x55555555
  x = (x | (x >>> 1)) & 0x33333333
  x = (x | (x >>> 2)) & 0x0f0f0f0f
  x = (x | (x >>> 4)) & 0x00ff00ff
  return (x | (x >>> 8)) & 0xffff
}

function interleave(row: number, column: number): number {
  const high = (spread(row >>> 13) | (spread(column >>> 13) << 1)) >>> 0
  const low = (spread(row & 0x1fff) | (spread(column & 0x1fff) << 1)) >>> 0
  return high * HALF_BITS + low
}

function squareAt({ longitude, latitude }: Point, step: number, latitudeMax: number): Square {
  const size = 2 ** step
  const down = (latitude + latitudeMax) / (latitudeMax * 2)
  const across = (longitude + LONGITUDE_MAX) / (LONGITUDE_MAX * 2)
  return { row: Math.trunc(down * size), column: Math.trunc(across * size), step }
}

export function scoreOf(point: Point): number {
  const { row, column } = squareAt(point, STEP_MAX, LATITUDE_MAX)
  return interleave(row, column)
}

interface Area {
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

function areaOf({ row, column, step }: Square): Area {
  const size = 2 ** step
  const longitude = (at: number): number => -LONGITUDE_MAX + (at / size) * (LONGITUDE_MAX * 2)
  const latitude = (at: number): number => -LATITUDE_MAX + (at / size) * (LATITUDE_MAX * 2)
  return {
    west: longitude(column),
    east: longitude(column + 1),
    south: latitude(row),
    north: latitude(row + 1)
  }
}

function clamp(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value))
}

/** The middle of the smallest square of a score. */
export function pointOf(score: number): Point {
  const whole = Math.trunc(score)
  const high = Math.floor(whole / HALF_BITS)
  const low = whole - high * HALF_BITS
  const row = gather(high) * 0x2000 + gather(low)
  const column = gather(high >>> 1) * 0x2000 + gather(low >>> 1)
  const { west, east, south, north } = areaOf({ row, column, step: STEP_MAX })
  return {
    longitude: clamp((west + east) / 2, LONGITUDE_MAX),
    latitude: clamp((south + north) / 2, LATITUDE_MAX)
  }
}

/** The eleven letters by which others know the place; their latitudes go to the poles. */
export function geohashText(score: number): string {
  const { row, column } = squareAt(pointOf(score), STEP_MAX, 90)
  const bits = BigInt(interleave(row, column))
  let text = ''
  for (let i = 1; i <= 10; i++) text += ALPHABET[Number((bits >> BigInt(52 - i * 5)) & 31n)]
  return `${text}0`
}

function latitudeMeters(a: Point, b: Point): number {
  return EARTH_METERS * Math.abs(toRadians(b.latitude) - toRadians(a.latitude))
}

export function metersBetween(a: Point, b: Point): number {
  const v = Math.sin((toRadians(b.longitude) - toRadians(a.longitude)) / 2)
  if (v === 0) return latitudeMeters(a, b)
  const [from, to] = [toRadians(a.latitude), toRadians(b.latitude)]
  const u = Math.sin((to - from) / 2)
  const h = u * u + Math.cos(from) * Math.cos(to) * v * v
  return 2 * EARTH_METERS * Math.asin(Math.sqrt(h))
}

/** What is looked in, around a point; all lengths in meters. */
export type Shape =
  | { readonly kind: 'circle'; readonly center: Point; readonly radius: number }
  | {
      readonly kind: 'box'
      readonly center: Point
      readonly width: number
      readonly height: number
    }

/** How far the point is from the middle; undefined if it lies outside. */
export function metersWithin(shape: Shape, point: Point): number | undefined {
  const { center } = shape
  if (shape.kind === 'circle') {
    const meters = metersBetween(center, point)
    return meters > shape.radius ? undefined : meters
  }
  if (latitudeMeters(point, center) > shape.height / 2) return undefined
  const beside = { longitude: center.longitude, latitude: point.latitude }
  if (metersBetween(point, beside) > shape.width / 2) return undefined
  return metersBetween(center, point)
}

function boundsOf(shape: Shape): Area {
  const { longitude, latitude } = shape.center
  const height = shape.kind === 'circle' ? shape.radius : shape.height / 2
  const width = shape.kind === 'circle' ? shape.radius : shape.width / 2
  const up = toDegrees(height / EARTH_METERS)
  const widest = latitude < 0 ? latitude - up : latitude + up
  const aside = toDegrees(width / EARTH_METERS / Math.cos(toRadians(widest)))
  return {
    west: longitude - aside,
    east: longitude + aside,
    south: latitude - up,
    north: latitude + up
  }
}

/** How fine a map is so that the shape lies in nine of its squares. */
function estimateStep(meters: number, latitude: number): number {
  if (meters === 0) return STEP_MAX
  let step = 1
  for (let range = meters; range < MERCATOR_METERS; range *= 2) step++
  step -= 2
  const far = Math.abs(latitude)
  if (far > 66) step--
  if (far > 80) step--
  return Math.max(1, Math.min(STEP_MAX, step))
}

/** Columns and rows away from the middle, in the order in which they are gone through. */
const AROUND: readonly (readonly [number, number])[] = [
  [0, 0],
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 0],
  [1, 1],
  [-1, 1],
  [1, -1],
  [-1, -1]
]

/** Round the globe. */
function shifted({ row, column, step }: Square, [right, up]: readonly [number, number]): Square {
  const wrap = (at: number, by: number): number =>
    by === 0 ? at : (at + by + 2 ** step) % 2 ** step
  return { row: wrap(row, up), column: wrap(column, right), step }
}

function covers(middle: Square, bounds: Area): boolean {
  const side = (right: number, up: number): Area => areaOf(shifted(middle, [right, up]))
  return !(
    side(0, 1).north < bounds.north ||
    side(0, -1).south > bounds.south ||
    side(1, 0).east < bounds.east ||
    side(-1, 0).west > bounds.west
  )
}

/** A range of scores; the end is not counted in. */
export interface ScoreRange {
  readonly from: number
  readonly to: number
}

function rangeOf({ row, column, step }: Square): ScoreRange {
  const scale = 2 ** (52 - step * 2)
  const first = interleave(row, column)
  return { from: first * scale, to: (first + 1) * scale }
}

/** The ranges of scores in which all points of the shape lie, and others. */
export function rangesAround(shape: Shape): ScoreRange[] {
  const bounds = boundsOf(shape)
  const meters =
    shape.kind === 'circle' ? shape.radius : Math.hypot(shape.width / 2, shape.height / 2)
  const { center } = shape
  let step = estimateStep(meters, center.latitude)
  let middle = squareAt(center, step, LATITUDE_MAX)
  if (step > 1 && !covers(middle, bounds)) {
    step--
    middle = squareAt(center, step, LATITUDE_MAX)
  }
  const area = areaOf(middle)
  const isUseless = ([right, up]: readonly [number, number]): boolean =>
    step >= 2 &&
    ((up < 0 && area.south < bounds.south) ||
      (up > 0 && area.north > bounds.north) ||
      (right < 0 && area.west < bounds.west) ||
      (right > 0 && area.east > bounds.east))
  const ranges: ScoreRange[] = []
  for (const way of AROUND) {
    if (isUseless(way)) continue
    const range = rangeOf(shifted(middle, way))
    // On the coarsest maps the same square is on both sides.
    if (!ranges.slice(1).some(({ from }) => from === range.from)) ranges.push(range)
  }
  return ranges
}
