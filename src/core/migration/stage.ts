/**
 * The stages of a move, in order. They are a list in code so that tests can cut a move at each of them and
 * a new stage cannot be forgotten. The primary ships every copy, since only it knows the order of writes:
 *
 *   offer       the source asked the target and waits for its word
 *   copy        items travel; writes to items already sent follow behind them on the same stream
 *   caught up   all items are sent; the target has to say that it has them
 *   hand over   from here on every write waits for the target too; requests of a bucket whose
 *               primary moves are held; the row changes when the target has everything
 *   done        the row is changed
 *
 * `cancelled` can follow on any of them but the last, and leaves no trace.
 */
export const MOVE_STAGES = ['offer', 'copy', 'caught up', 'hand over', 'done'] as const

export type MoveStage = (typeof MOVE_STAGES)[number] | 'cancelled'

/** What may follow on what. */
export function mayFollow(from: MoveStage, to: MoveStage): boolean {
  if (from === 'done' || from === 'cancelled') return false
  if (to === 'cancelled') return true
  return MOVE_STAGES.indexOf(to) === MOVE_STAGES.indexOf(from) + 1
}
