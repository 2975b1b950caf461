/**
 * A lock with a fence. Whoever holds it has a token, and each holder's token is larger than those of all holders before
 * it. A holder that stalled past the end of its time does not know that it lost the lock, but the resource does when it
 * remembers the largest token it has seen and refuses smaller ones.
 *
 * Three steps, each by itself: take the key if it is free; draw a token; put the token into the key if it is still ours.
 * The token is drawn after the key was taken and is valid only if the key was ours until then. Times of holding do not
 * overlap, so later holders draw later. (Drawing first and taking then could give a later holder a smaller token.)
 */
import { randomUUID } from 'node:crypto'
import { OpenClusterError } from '../errors.js'
import { Pauses } from './pause.js'
import type { StringCommands } from './string-commands.js'
import { deleteSurely, repeatUntilKnown, writeSurely } from './sure-write.js'

/** How a lock is held. */
export interface LockOptions {
  /** A holder that neither renews nor releases it loses it after this. Default 15,000 ms. */
  readonly ttlMs?: number
}

/** How long one waits for a lock. */
export interface AcquireOptions {
  /** How long to wait for it; default for ever. */
  readonly waitMs?: number
}

const TTL_MS_DEFAULT = 15_000

/** A lock of the whole cluster. Made by `client.lock`. */
export class Lock {
  readonly name: string
  readonly #client: StringCommands
  readonly #key: string
  readonly #ttlMs: number

  constructor(client: StringCommands, name: string, options: LockOptions = {}) {
    this.name = name
    this.#client = client
    this.#key = `lock:{${name}}`
    this.#ttlMs = options.ttlMs ?? TTL_MS_DEFAULT
  }

  /** Null if somebody else has it. */
  async tryAcquire(): Promise<HeldLock | null> {
    const client = this.#client
    const [key, ttlMs] = [this.#key, this.#ttlMs]
    const id = randomUUID()
    if (!(await writeSurely(client, { key, expected: null, value: id, ttlMs }))) return null
    const token = await repeatUntilKnown(() => client.incr(`${key}:fence`))
    const value = `${id} ${token}`
    const sinceMs = performance.now()
    if (!(await writeSurely(client, { key, expected: id, value, ttlMs }))) return null
    return new HeldLock(client, { key, value, ttlMs, token, sinceMs })
  }

  /** Null if the time is up. */
  async acquire(options: AcquireOptions = {}): Promise<HeldLock | null> {
    const pauses = new Pauses(options.waitMs ?? Infinity)
    do {
      const held = await this.tryAcquire()
      if (held !== null) return held
    } while (await pauses.next())
    return null
  }

  /**
   * Acquires it, renews it for as long as `act` takes, and releases it. The signal is aborted when the lock is lost: `act`
   * must then stop, and what it still writes carries an old token.
   */
  async use<T>(
    act: (held: HeldLock, signal: AbortSignal) => Promise<T>,
    options: AcquireOptions = {}
  ): Promise<T> {
    const held = await this.acquire(options)
    if (held === null) throw new OpenClusterError('OC_TIMEOUT', `${this.name} is held by others`)
    const abort = new AbortController()
    const renewer = setInterval(() => {
      held.renew().catch((error: unknown) => {
        if (!held.isHeld) abort.abort(error)
      })
    }, this.#ttlMs / 3)
    try {
      return await act(held, abort.signal)
    } finally {
      clearInterval(renewer)
      await held.release()
    }
  }
}

interface Holding {
  readonly key: string
  readonly value: string
  readonly ttlMs: number
  readonly token: number
  readonly sinceMs: number
}

/** A lock while one has it, with the token for the resource. */
export class HeldLock {
  /** Larger than that of every holder before: give it to the resource with every request. */
  readonly token: number
  readonly #client: StringCommands
  readonly #holding: Holding
  #endMs: number

  constructor(client: StringCommands, holding: Holding) {
    this.token = holding.token
    this.#client = client
    this.#holding = holding
    this.#endMs = holding.sinceMs + holding.ttlMs
  }

  /** By this process's own clock. Only the fence is proof, as this may be true when it is read and false a moment later. */
  get isHeld(): boolean {
    return performance.now() < this.#endMs
  }

  /** Starts the time anew; throws OC_LOCK_LOST if it was over. */
  async renew(): Promise<void> {
    const { key, value, ttlMs } = this.#holding
    const sinceMs = performance.now()
    const ours = await writeSurely(this.#client, { key, expected: value, value, ttlMs })
    if (!ours) {
      this.#endMs = 0
      throw new OpenClusterError('OC_LOCK_LOST', `${key} is not held any more`)
    }
    this.#endMs = sinceMs + ttlMs
  }

  /** False if it was lost before. */
  async release(): Promise<boolean> {
    this.#endMs = 0
    return deleteSurely(this.#client, this.#holding.key, this.#holding.value)
  }
}
