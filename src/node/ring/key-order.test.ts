import fc from 'fast-check'
import { expect, it } from 'vitest'
import { KeyOrder } from './key-order.js'

it('is what a sorted set is, in pieces that never get long', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '\u00ff', '\u0000'), maxLength: 3 })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), key), { maxLength: 200 }), key, (steps, start) => {
      const order = new KeyOrder()
      const model = new Set<string>()
      for (const [adds, text] of steps) {
        if (adds) {
          order.add(text)
          model.add(text)
        } else {
          order.remove(text)
          model.delete(text)
        }
        expect(order.size).toBe(model.size)
      }
      const seen: string[] = []
      order.walk(start, (text) => seen.push(text) > 0)
      expect(seen).toEqual([...model].filter((text) => text >= start).sort())
    })
  )
})

it('keeps its order over many pieces', () => {
  const order = new KeyOrder()
  for (let i = 0; i < 5000; i++) order.add(String((i * 7919) % 5000).padStart(4, '0'))
  const seen: string[] = []
  order.walk('2500', (text) => seen.push(text) < 1000)
  expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => String(2500 + i)))
  for (let i = 0; i < 5000; i += 2) order.remove(String(i).padStart(4, '0'))
  expect(order.size).toBe(2500)
})
