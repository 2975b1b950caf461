import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Random } from './random.js'

const seeds = fc.integer({ min: 0, max: 0xffff_ffff })

function draw(random: Random, count: number): number[] {
  return Array.from({ length: count }, () => random.uint32())
}

test('the same seed gives the same sequence, another seed another', () => {
  fc.assert(
    fc.property(seeds, seeds, (seed, other) => {
      expect(draw(new Random(seed), 20)).toEqual(draw(new Random(seed), 20))
      if (seed !== other) expect(draw(new Random(seed), 4)).not.toEqual(draw(new Random(other), 4))
    })
  )
})

test('a seed that was printed once means the same for ever', () => {
  expect(draw(new Random(1), 4)).toEqual([393288148, 2174103013, 3814759091, 2092745082])
})

test('what a fork draws does not change what its origin draws', () => {
  fc.assert(
    fc.property(seeds, fc.nat({ max: 50 }), (seed, count) => {
      const [quiet, busy] = [new Random(seed), new Random(seed)]
      quiet.fork()
      draw(busy.fork(), count)
      expect(draw(busy, 10)).toEqual(draw(quiet, 10))
    })
  )
})

test('forks differ from each other and from their origin', () => {
  const random = new Random(5)
  const sequences = [random.fork(), random.fork(), random].map((each) => draw(each, 8).join())
  expect(new Set(sequences).size).toBe(3)
})

test('numbers stay in their ranges', () => {
  fc.assert(
    fc.property(
      seeds,
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: -50, max: 50 }),
      (seed, bound, low) => {
        const random = new Random(seed)
        for (let i = 0; i < 20; i++) {
          const [word, fraction] = [random.uint32(), random.fraction()]
          expect(Number.isInteger(word) && word >= 0 && word <= 0xffff_ffff).toBe(true)
          expect(fraction >= 0 && fraction < 1).toBe(true)
          const below = random.below(bound)
          expect(Number.isInteger(below) && below >= 0 && below < bound).toBe(true)
          const between = random.between(low, low + 3)
          expect(between >= low && between <= low + 3).toBe(true)
        }
        expect(random.below(1)).toBe(0)
        expect(random.between(low, low)).toBe(low)
      }
    )
  )
})

test('every value of a range comes, about as often as the others', () => {
  const random = new Random(9)
  const [below, between] = [new Array<number>(6).fill(0), new Array<number>(6).fill(0)]
  for (let i = 0; i < 12_000; i++) {
    below[random.below(6)]++
    between[random.between(10, 15) - 10]++
  }
  // Five standard deviations around 2000.
  for (const count of [...below, ...between]) expect(Math.abs(count - 2000)).toBeLessThan(205)
})

test('chances from never to always', () => {
  const random = new Random(2)
  const count = (probability: number): number => {
    let hits = 0
    for (let i = 0; i < 10_000; i++) if (random.chance(probability)) hits++
    return hits
  }
  expect(count(0)).toBe(0)
  expect(count(1)).toBe(10_000)
  expect(Math.abs(count(0.25) - 2500)).toBeLessThan(220)
})

test('picking and shuffling keep to the items', () => {
  const random = new Random(3)
  const items = ['a', 'b', 'c', 'd']
  const picked = new Set(Array.from({ length: 100 }, () => random.pick(items)))
  expect([...picked].sort()).toEqual(items)
  const firsts = new Set<string>()
  for (let i = 0; i < 100; i++) {
    const shuffled = random.shuffle([...items])
    expect([...shuffled].sort()).toEqual(items)
    firsts.add(shuffled[0])
  }
  expect(firsts.size).toBe(4)
  expect(random.shuffle([])).toEqual([])
})
