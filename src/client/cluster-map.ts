/**
 * A map whose entries are spread over the cluster: each is a key of its own, `map:NAME:FIELD`, with a value of JSON. It can
 * be as large as the cluster; only going through it costs a scan of all keys.
 */
import { escapeGlob } from '../core/glob.js'
import { OpenClusterError } from '../errors.js'
import { isUnknown } from './sure-write.js'
import { toJson, type ExpiryOptions, type StringCommands } from './string-commands.js'

const ATTEMPTS_MAX = 1000
/** Entries read in one go when it is gone through. */
const PAGE = 256

/** Entries by name, each a key of its own, with values of JSON. Made by `client.map`. */
export class ClusterMap<V> {
  readonly name: string
  readonly #client: StringCommands
  readonly #prefix: string

  constructor(client: StringCommands, name: string) {
    this.name = name
    this.#client = client
    this.#prefix = `map:${name}:`
  }

  /** Null if there is none. */
  get(field: string): Promise<V | null> {
    return this.#client.getJson<V>(this.#prefix + field)
  }

  /** Writes an entry, whether there was one or not. */
  async set(field: string, value: V, options?: ExpiryOptions): Promise<void> {
    await this.#client.setJson(this.#prefix + field, value, options)
  }

  /** False if there is one already. */
  add(field: string, value: V, options: ExpiryOptions = {}): Promise<boolean> {
    return this.#client.setJson(this.#prefix + field, value, { ...options, nx: true })
  }

  /** Whether there is an entry. */
  async has(field: string): Promise<boolean> {
    return (await this.#client.exists(this.#prefix + field)) === 1
  }

  /** False if there was none. */
  async delete(field: string): Promise<boolean> {
    return (await this.#client.del(this.#prefix + field)) === 1
  }

  /**
   * Makes a new value of the present one, and does so again when somebody else was faster. `change` may be called several
   * times. OC_UNKNOWN only if an answer was lost and others wrote since.
   */
  async update(field: string, change: (value: V | null) => V): Promise<V> {
    const key = this.#prefix + field
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const before = await this.#client.get(key)
      const value = change(before === null ? null : (JSON.parse(before) as V))
      const text = toJson(value)
      try {
        if (await this.#client.compareAndSet(key, before, text, { keepTtl: true })) return value
      } catch (error) {
        if (!isUnknown(error)) throw error
        const found = await this.#client.get(key)
        if (found === text) return value
        if (found !== before) throw error
      }
    }
    throw new OpenClusterError('OC_TIMEOUT', `${key} is changed by too many others`)
  }

  /** All fields, each once, in no order; those that come or go meanwhile may be among them. */
  async *keys(): AsyncGenerator<string, void, undefined> {
    const seen = new Set<string>()
    for await (const key of this.#client.scan({ match: `${escapeGlob(this.#prefix)}*` })) {
      if (seen.has(key)) continue
      seen.add(key)
      yield key.slice(this.#prefix.length)
    }
  }

  /** All entries, as `keys` finds them. */
  async *entries(): AsyncGenerator<[string, V], void, undefined> {
    let page: string[] = []
    for await (const field of this.keys()) {
      page.push(field)
      if (page.length < PAGE) continue
      yield* await this.#read(page)
      page = []
    }
    yield* await this.#read(page)
  }

  [Symbol.asyncIterator](): AsyncGenerator<[string, V], void, undefined> {
    return this.entries()
  }

  /** Deletes all entries there are. */
  async clear(): Promise<void> {
    for await (const field of this.keys()) await this.delete(field)
  }

  async #read(fields: readonly string[]): Promise<[string, V][]> {
    if (fields.length === 0) return []
    const texts = await this.#client.mget(...fields.map((field) => this.#prefix + field))
    const entries: [string, V][] = []
    texts.forEach((text, place) => {
      if (text !== null) entries.push([fields[place], JSON.parse(text) as V])
    })
    return entries
  }
}
