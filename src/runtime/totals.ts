/** What a node has done since it began, counted from what it reports. */
import type { NodeEvent } from '../node/outbox.js'

export class Totals {
  readonly moves = {
    primary: { done: 0, cancelled: 0 },
    backup: { done: 0, cancelled: 0 }
  }
  /** Items that were sent in moves, whatever became of these. */
  items = 0
  switches = 0
  splits = 0
  failovers = 0
  lost = 0
  /** Called with the time from the last word of a node to each bucket's take-over, in milliseconds. */
  onFailover: ((ms: number) => void) | undefined

  /** `silentMs`: for how long the node that was replaced has not been heard. */
  note(event: NodeEvent, silentMs: (node: string) => number): void {
    switch (event.kind) {
      case 'stage':
        if (event.stage !== 'done' && event.stage !== 'cancelled') return
        this.items += event.sent
        if (!event.isSwitch) this.moves[event.role][event.stage]++
        else if (event.stage === 'done') this.switches++
        return
      case 'split':
        this.splits++
        return
      case 'promoted':
        this.failovers++
        this.onFailover?.(silentMs(event.instead))
        return
      case 'lost':
        this.lost++
    }
  }
}
