/**
 * Logs that everybody appends to: strings grown by APPEND, or lists grown by RPUSH. Long ones are left for new
 * ones, so that reading them whole stays cheap.
 */
import type { Random } from '../../src/core/random.js'
import type { ReplyValue } from '../../src/wire/resp/reply-value.js'
import type { Draft } from '../client.js'
import type { Operation, Value } from '../operation.js'
import { readCount, type Family } from './family.js'

const PIECES_MAX = 80

export class LogFamily implements Family {
  readonly name: string
  readonly #shape: 'string' | 'list'
  readonly #keys: string[] = []
  readonly #pieces = new Map<string, number>()
  readonly #count: number

  constructor(shape: 'string' | 'list', count: number) {
    this.name = shape === 'string' ? 'log' : 'list'
    this.#shape = shape
    this.#count = count
    for (let i = 0; i < count; i++) this.#create(i)
  }

  draw(client: number, random: Random): Draft {
    const index = random.below(this.#count)
    let key = this.#keys[index]
    const length = this.#pieces.get(key) ?? 0
    if (random.chance(0.3)) return this.#drawRead(key)
    if (length >= PIECES_MAX) key = this.#create(index)
    const number = (this.#pieces.get(key) ?? 0) + 1
    this.#pieces.set(key, number)
    const piece = `${client}-${number}`
    const action = { kind: 'append', piece } as const
    const args = this.#shape === 'string' ? ['APPEND', key, `${piece};`] : ['RPUSH', key, piece]
    return { family: this.name, key, place: key, action, args, read: readCount }
  }

  onComplete(_operation: Operation): void {
    // Pieces of unknown outcome may come late; the log goes on.
  }

  drawFinalReads(): Draft[] {
    return [...this.#pieces.keys()].map((key) => this.#drawRead(key))
  }

  #create(index: number): string {
    const key = `${this.name}${index}.${this.#pieces.size}`
    this.#keys[index] = key
    this.#pieces.set(key, 0)
    return key
  }

  #drawRead(key: string): Draft {
    const action = { kind: 'read' } as const
    const isString = this.#shape === 'string'
    const args = isString ? ['GET', key] : ['LRANGE', key, '0', '-1']
    const read = isString ? readPieces : readItems
    return { family: this.name, key, place: key, action, args, read }
  }
}

function readPieces(reply: ReplyValue): Value | undefined {
  if (reply === null) return []
  return typeof reply === 'string' ? reply.split(';').slice(0, -1) : undefined
}

function readItems(reply: ReplyValue): Value | undefined {
  return Array.isArray(reply)
    ? reply.map((item) => (typeof item === 'string' ? item : ''))
    : undefined
}
