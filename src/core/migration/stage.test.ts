import { expect, it } from 'vitest'
import { mayFollow, MOVE_STAGES, type MoveStage } from './stage.js'

const ALL: readonly MoveStage[] = [...MOVE_STAGES, 'cancelled']

it('goes through the stages in order, without leaving one out', () => {
  const allowed = ALL.flatMap((from) =>
    ALL.filter((to) => to !== 'cancelled' && mayFollow(from, to)).map((to) => `${from} > ${to}`)
  )
  expect(allowed).toEqual([
    'offer > copy',
    'copy > caught up',
    'caught up > hand over',
    'hand over > done'
  ])
})

it('can be cancelled in every stage but the last', () => {
  const cancellable = ALL.filter((from) => mayFollow(from, 'cancelled'))
  expect(cancellable).toEqual(MOVE_STAGES.slice(0, -1))
})

it('ends for good', () => {
  for (const to of ALL) {
    expect(mayFollow('done', to)).toBe(false)
    expect(mayFollow('cancelled', to)).toBe(false)
  }
})
