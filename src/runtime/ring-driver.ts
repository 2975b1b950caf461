/**
 * Feeds one node of a ring from the real world, as `Driver` does for buckets. If it has a disk, the node is first given
 * back what an earlier process put down, and nothing of a turn leaves before the disk has it.
 */
import type { RingNodeConfig } from '../node/ring/config.js'
import { SNAPSHOT_PARTS } from '../node/ring/snapshot.js'
import { RingNode } from '../node/ring/node.js'
import type { RingOutbox } from '../node/ring/outbox.js'
import type { Clock } from './clock.js'
import type { RingDisk } from './ring-disk.js'
import { TurnLoop, type TurnPorts } from './turn-loop.js'

export interface RingDriverPorts extends Omit<RingOutbox, 'keep'>, Omit<TurnPorts, 'beforeFlush'> {
  readonly disk?: RingDisk | undefined
}

export class RingDriver {
  readonly node: RingNode
  readonly #clock: Clock
  readonly #turns: TurnLoop

  constructor(config: RingNodeConfig, clock: Clock, ports: RingDriverPorts) {
    const { disk } = ports
    this.#clock = clock
    this.node =
      disk === undefined ? new RingNode(config, ports) : recall(config, { ...ports, disk })
    const { node } = this
    this.#turns = new TurnLoop(node, clock, {
      endTurn: () => ports.endTurn(),
      failed: (error) => ports.failed(error),
      beforeFlush: () => {
        disk?.commit(SNAPSHOT_PARTS, (part, write) => node.snapshot(part, write))
      }
    })
  }

  /** Acts on the node inside a turn; undefined when it has stopped. */
  perform<T>(act: (node: RingNode, now: number) => T): T | undefined {
    let result: T | undefined
    this.#turns.input((now) => {
      result = act(this.node, now)
    })
    return result
  }

  wake(): void {
    this.#turns.wake(this.#clock.now())
  }

  /** The longest time in which nobody was served, since it was last asked for; in milliseconds. */
  takeStallMs(): number {
    return this.#turns.stall.take()
  }

  stop(): void {
    this.#turns.stop()
  }
}

/** With what an earlier process put down; without it, if the ring has gone on without that one for too long. */
function recall(config: RingNodeConfig, ports: RingDriverPorts & { disk: RingDisk }): RingNode {
  const { disk } = ports
  const [{ lastMs }, now] = [disk, config.life]
  let recalling = true
  const outbox: RingOutbox = {
    send: (address, envelope) => ports.send(address, envelope),
    answer: (id, answer) => ports.answer(id, answer),
    event: (event) => ports.event(event),
    keep: (entry) => {
      if (!recalling) disk.keep(entry)
    }
  }
  const node = new RingNode(config, outbox)
  disk.read((entry) => node.recall(entry, now))
  recalling = false
  if (lastMs === 0) return node
  const isOld = now - lastMs > config.tombstoneMs && node.configuration.members.length > 1
  if (node.remembers && !isOld) return node
  disk.clear()
  return new RingNode(config, outbox)
}
