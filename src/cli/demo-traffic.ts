/** A little traffic by a plain connection to any of the nodes; goes on with another when one is gone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { RespConnection } from './resp-connection.js'

const PAUSE_MS = 50
const KEYS = 1000

export class DemoTraffic {
  readonly #addresses: () => readonly string[]
  #running = false
  #connection: RespConnection | undefined
  #count = 0
  #operations = 0
  #errors = 0
  #sinceMs = performance.now()

  constructor(addresses: () => readonly string[]) {
    this.#addresses = addresses
  }

  start(): void {
    this.#running = true
    void this.#run()
  }

  stop(): void {
    this.#running = false
    this.#connection?.close()
  }

  /** Operations a second since the last time, and how many failed. */
  take(): { operations: number; errors: number } {
    const now = performance.now()
    const seconds = Math.max(0.001, (now - this.#sinceMs) / 1000)
    const taken = { operations: Math.round(this.#operations / seconds), errors: this.#errors }
    this.#operations = 0
    this.#errors = 0
    this.#sinceMs = now
    return taken
  }

  async #run(): Promise<void> {
    while (this.#running) {
      try {
        await this.#step()
      } catch {
        this.#errors++
        this.#connection?.close()
        this.#connection = undefined
      }
      await sleep(PAUSE_MS)
    }
  }

  async #step(): Promise<void> {
    if (this.#connection === undefined) {
      const addresses = this.#addresses()
      if (addresses.length === 0) return
      this.#connection = await RespConnection.open(addresses[this.#count % addresses.length])
    }
    const key = `demo:${this.#count % KEYS}`
    await this.#connection.call('SET', key, `value ${this.#count++}`)
    await this.#connection.call('GET', key)
    this.#operations += 2
  }
}
