/**
 * Keys (or fields of hashes) with one writer each and many readers. The writer numbers its writes and never has
 * two of them under way on the same place. After a write of unknown outcome it leaves the place alone
 * and goes on with a new one: such a write may still take effect much later, and would then be the newest.
 */
import type { Random } from '../../src/core/random.js'
import type { Draft } from '../client.js'
import type { Operation } from '../operation.js'
import { drawValue, readCount, readDone, readNumberOf, type Family } from './family.js'

export interface RegisterOptions {
  readonly name: string
  readonly writers: number
  /** Places each writer has at a time. */
  readonly places: number
  readonly shape: 'string' | 'hash'
  /** How many of the writes are removals. */
  readonly removals: number
  readonly reads: number
}

interface Place {
  readonly writer: number
  readonly key: string
  readonly field: string | undefined
  readonly id: string
  number: number
  busy: boolean
  left: boolean
}

export class RegisterFamily implements Family {
  readonly name: string
  readonly #options: RegisterOptions
  /** By writer. */
  readonly #places: Place[][] = []
  readonly #byId = new Map<string, Place>()
  readonly #all: Place[] = []

  constructor(options: RegisterOptions) {
    this.name = options.name
    this.#options = options
    for (let writer = 0; writer < options.writers; writer++) {
      this.#places.push([])
      for (let i = 0; i < options.places; i++) this.#create(writer, i, 0)
    }
  }

  draw(client: number, random: Random): Draft | undefined {
    const own = this.#places.at(client)
    if (own === undefined || random.chance(this.#options.reads)) {
      return this.#drawRead(random.pick(this.#all))
    }
    const place = random.pick(own)
    if (place.busy) return this.#drawRead(place)
    return this.#drawWrite(place, random)
  }

  /** A first write to every place of a writer that has none yet, one after the other. */
  drawFirst(client: number, random: Random): Draft | undefined {
    const place = this.#places.at(client)?.find((it) => it.number === 0 && !it.busy)
    return place && this.#drawWrite(place, random)
  }

  onComplete(operation: Operation): void {
    const place = this.#byId.get(operation.place)
    if (place === undefined || operation.action.kind === 'read') return
    place.busy = false
    if (operation.outcome.kind !== 'unknown' || place.left) return
    place.left = true
    const own = this.#places[place.writer]
    this.#create(place.writer, own.indexOf(place), this.#all.length)
  }

  drawFinalReads(): Draft[] {
    return this.#all.filter((place) => place.number > 0).map((place) => this.#drawRead(place))
  }

  #create(writer: number, index: number, age: number): void {
    const { name, shape } = this.#options
    const suffix = age === 0 ? '' : `.${age}`
    const isHash = shape === 'hash'
    // Fields of one hash share a key, and so a bucket.
    const key = isHash ? `${name}${writer}` : `${name}${writer}.${index}${suffix}`
    const field = isHash ? `f${index}${suffix}` : undefined
    const id = field === undefined ? key : `${key}/${field}`
    const place = { writer, key, field, id, number: 0, busy: false, left: false }
    this.#places[writer][index] = place
    this.#byId.set(id, place)
    this.#all.push(place)
  }

  #drawRead({ key, field, id }: Place): Draft {
    const args = field === undefined ? ['GET', key] : ['HGET', key, field]
    const action = { kind: 'read' } as const
    return { family: this.name, key, place: id, action, args, read: readNumberOf(id) }
  }

  #drawWrite(place: Place, random: Random): Draft {
    const { key, field, id } = place
    place.busy = true
    const number = ++place.number
    const about = { family: this.name, key, place: id }
    if (field === undefined && random.chance(this.#options.removals)) {
      return { ...about, action: { kind: 'remove', number }, args: ['DEL', key], read: readCount }
    }
    const action = { kind: 'put', number } as const
    const value = drawValue(id, number, random)
    if (field !== undefined) {
      return { ...about, action, args: ['HSET', key, field, value], read: readCount }
    }
    return { ...about, action, args: ['SET', key, value], read: readDone }
  }
}
