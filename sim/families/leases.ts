/** Keys with one writer each that expire: by an option of the write. Left alone after an unknown outcome. */
import type { Random } from '../../src/core/random.js'
import type { Draft } from '../client.js'
import type { Operation } from '../operation.js'
import { drawValue, readDone, readNumberOf, type Family } from './family.js'

interface Lease {
  readonly writer: number
  readonly key: string
  number: number
  busy: boolean
}

/** Some expire during the run; some outlive it, so that copies are compared with their time of expiry. */
const TTL_MS = [50, 300, 1000, 4000, 15_000, 3_600_000]

export class LeaseFamily implements Family {
  readonly name = 'lease'
  readonly #current: Lease[] = []
  readonly #byKey = new Map<string, Lease>()

  constructor(writers: number) {
    for (let writer = 0; writer < writers; writer++) this.#current.push(this.#create(writer))
  }

  draw(client: number, random: Random): Draft | undefined {
    const own = this.#current.at(client)
    if (own === undefined || own.busy || random.chance(0.7)) {
      return this.#drawRead(random.pick(this.#current).key)
    }
    own.busy = true
    const { key } = own
    const number = ++own.number
    const ttlMs = random.pick(TTL_MS)
    const args = ['SET', key, drawValue(key, number, random), 'PX', String(ttlMs)]
    const action = { kind: 'put', number, ttlMs } as const
    return { family: this.name, key, place: key, action, args, read: readDone }
  }

  onComplete(operation: Operation): void {
    const lease = this.#byKey.get(operation.place)
    if (lease === undefined || operation.action.kind === 'read') return
    lease.busy = false
    if (operation.outcome.kind !== 'unknown') return
    this.#current[lease.writer] = this.#create(lease.writer)
  }

  drawFinalReads(): Draft[] {
    return [...this.#byKey.keys()].map((key) => this.#drawRead(key))
  }

  #create(writer: number): Lease {
    const key = `lease${writer}.${this.#byKey.size}`
    const lease = { writer, key, number: 0, busy: false }
    this.#byKey.set(key, lease)
    return lease
  }

  #drawRead(key: string): Draft {
    const action = { kind: 'read' } as const
    return {
      family: this.name,
      key,
      place: key,
      action,
      args: ['GET', key],
      read: readNumberOf(key)
    }
  }
}
