import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Call } from './call.js'
import { CallQueue } from './call-queue.js'
import { ANYWHERE } from './command-kind.js'
import { asItself } from './reply.js'

function callNumber(deadlineMs: number): Call {
  const options = { args: [], kind: ANYWHERE, decode: asItself, deadlineMs, repeats: false }
  return new Call(
    options,
    () => undefined,
    () => undefined
  )
}

describe('a queue of calls', () => {
  it('is an array with a cheap shift', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant('push' as const) },
      { weight: 5, arbitrary: fc.constant('shift' as const) },
      { weight: 1, arbitrary: fc.nat(100) }
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1000 }), (steps) => {
        const queue = new CallQueue()
        let model: number[] = []
        steps.forEach((action, i) => {
          if (action === 'push') {
            queue.push(callNumber(i))
            model.push(i)
          } else if (action === 'shift') expect(queue.shift()?.deadlineMs).toBe(model.shift())
          else {
            const taken = queue.takeFrom(action).map(({ deadlineMs }) => deadlineMs)
            expect(taken).toEqual(model.slice(action))
            model = model.slice(0, action)
          }
          expect(queue.length).toBe(model.length)
          expect(queue.at(0)?.deadlineMs).toBe(model.at(0))
          expect(queue.at(model.length)).toBe(undefined)
        })
      })
    )
  })
})
