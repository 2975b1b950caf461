/** How a node leaves, whatever its kind: it is asked to, shows how far it is, and is waited for up to a limit. */
import type { Departure } from './access.js'
import type { Log } from './log.js'

const PROGRESS_MS = 100

export interface HandOver {
  /** How many copies it still has. */
  readonly held: () => number
  /** Asks it to go; `gone` is called when everything is elsewhere. */
  readonly begin: (gone: () => void) => void
  readonly timeoutMs: number
  readonly onLeaving: ((handedOver: number, total: number) => void) | undefined
  /** What still has to be said to others once everything is elsewhere. */
  readonly drain: () => Promise<void>
  /** The node has stopped, whatever the reason. */
  readonly closed: Promise<void>
  readonly log: Log
}

export async function handOver(options: HandOver): Promise<Departure> {
  const { held, onLeaving, log } = options
  const total = held()
  const gone = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), options.timeoutMs)
    const end = (): void => clearTimeout(timer)
    void options.closed.then(end).catch(end)
    options.begin(() => resolve(true))
  })
  let shown = -1
  const show = (): void => {
    const handedOver = Math.max(0, total - held())
    if (handedOver === shown) return
    shown = handedOver
    onLeaving?.(handedOver, total)
  }
  const progress = setInterval(show, PROGRESS_MS)
  const left = await gone
  clearInterval(progress)
  show()
  const copies = held()
  if (left) await options.drain()
  else log.error('leaving took too long', { copies })
  return { left, copies }
}
