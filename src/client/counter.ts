/** A number that many add to. It is an ordinary key, so `INCRBY` of any Redis client counts as well. */
import type { StringCommands } from './string-commands.js'
import { once, type OnceOptions } from './once.js'
import { asNumber } from './reply.js'

/** A number of the whole cluster. Made by `client.counter`. */
export class Counter {
  readonly key: string
  readonly #client: StringCommands

  constructor(client: StringCommands, name: string) {
    this.key = `counter:${name}`
    this.#client = client
  }

  /** 0 if nobody has added anything. */
  async value(): Promise<number> {
    return (await this.#client.getNumber(this.key)) ?? 0
  }

  /** The value afterwards. With a token it is added at most once, however often it is tried (see `once`). */
  async add(by = 1, options?: OnceOptions): Promise<number> {
    if (options === undefined) return this.#client.incrBy(this.key, by)
    return asNumber(await once(this.#client, ['INCRBY', this.key, by], options))
  }

  /** Back to nothing; gives what it was. */
  async reset(): Promise<number> {
    return Number((await this.#client.getAndDelete(this.key)) ?? 0)
  }
}
