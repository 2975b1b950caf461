import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  geohashText,
  LATITUDE_MAX,
  metersBetween,
  metersWithin,
  type Point,
  pointOf,
  rangesAround,
  scoreOf,
  type Shape
} from './geo-hash.js'

const place: fc.Arbitrary<Point> = fc.record({
  longitude: fc.double({ min: -179.99, max: 179.99, noNaN: true }),
  latitude: fc.double({ min: -LATITUDE_MAX + 0.01, max: LATITUDE_MAX - 0.01, noNaN: true })
})

describe('places', () => {
  it('have the scores and texts that Redis gives them', () => {
    const palermo = { longitude: 13.361389, latitude: 38.115556 }
    expect(scoreOf(palermo)).toBe(3479099956230698)
    expect(geohashText(3479099956230698)).toBe('sqc8b49rny0')
    const catania = { longitude: 15.087269, latitude: 37.502669 }
    expect(metersBetween(pointOf(scoreOf(palermo)), pointOf(scoreOf(catania)))).toBeCloseTo(
      166274.1516,
      3
    )
  })

  it('come back to within a meter', () => {
    fc.assert(
      fc.property(place, (point) => {
        expect(metersBetween(point, pointOf(scoreOf(point)))).toBeLessThan(1)
      })
    )
  })

  it('within a shape lie in its ranges of scores', () => {
    const size = fc.double({ min: 1, max: 1_000_000, noNaN: true })
    const shape: fc.Arbitrary<Shape> = fc.oneof(
      fc.record({ kind: fc.constant('circle' as const), center: place, radius: size }),
      fc.record({ kind: fc.constant('box' as const), center: place, width: size, height: size })
    )
    const offset = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(shape, offset, offset, (searched, right, up) => {
        const { center } = searched
        // Not round the globe's back: there Redis misses some as well.
        fc.pre(Math.abs(center.longitude) < 150 && Math.abs(center.latitude) < 60)
        const near = { longitude: center.longitude + right * 5, latitude: center.latitude + up * 5 }
        const score = scoreOf(near)
        if (metersWithin(searched, pointOf(score)) === undefined) return
        expect(rangesAround(searched).some(({ from, to }) => score >= from && score < to)).toBe(
          true
        )
      }),
      { numRuns: 1000 }
    )
  })
})
