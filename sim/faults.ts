/**
 * What goes wrong, and when, drawn from the seed. Joins and leaves always happen (and with them splits, where
 * buckets are few); the class of faults says what else: `network` loses, doubles, delays and reorders, slows links
 * down and cuts them in one direction or both, and cuts clients off; `crash` takes memories away and stops nodes for a
 * while; `all` does everything.
 *
 * Two bounds can be set. Short faults: nobody seems dead who is not, since cuts and pauses are short, and a
 * silence ends before the next begins. Careful crashes: at most copies - 1 nodes are down, and none
 * goes down before every bucket has all its copies again, so that nothing acknowledged may ever be lost.
 */
import { latin1Bytes } from '../src/core/bytes.js'
import type { Random } from '../src/core/random.js'
import { encodeArguments } from '../src/wire/resp/request-writer.js'
import { hasAllCopies, isParted, type ClusterView } from './cluster-view.js'
import type { DrivenNode } from './driven-node.js'
import { GOOD_LINK, type LinkQuality } from './network.js'
import type { Simulation } from './simulator.js'

export const FAULT_CLASSES = ['none', 'network', 'crash', 'all'] as const
export type FaultClass = (typeof FAULT_CLASSES)[number]

export interface FaultOptions {
  readonly faults: FaultClass
  /** How much there is of a kind, instead of what is drawn; 1 is the usual. */
  readonly rates?: Partial<Record<FaultKind, number>>
  readonly shortFaults: boolean
  readonly carefulCrashes: boolean
  /** Both sides of a cut go on by themselves. */
  readonly mayPart: boolean
  /** How many nodes there may be. */
  readonly nodesMin: number
  readonly nodesMax: number
  /** Cuts the connection of some client. */
  readonly cutClient: () => void
  /** Clients say of primaries, at random, that they do not answer. */
  readonly accusations: boolean
  /** These nodes can serve nobody from now on; called back when that is over. */
  readonly onSilence: (cause: 'pause' | 'partition', names: readonly string[]) => () => void
}

/**
 * Mean times between two faults of a kind, in milliseconds. Each run draws for each kind how much of it there is,
 * and leaves some kinds out: what one kind of fault would hide another one shows.
 */
const EVERY_MS = {
  join: 7000,
  leave: 12_000,
  weather: 2500,
  partition: 3000,
  clientCut: 2000,
  crash: 6000,
  pause: 3000,
  accusation: 400
}

export type FaultKind = keyof typeof EVERY_MS

const RATES = [0, 0.4, 1, 1, 3]

const LONG_FAULT_MS = 8000
/** A fault that may not happen now is tried again after this. */
const RETRY_MS = 150

export class FaultPlan {
  /** Whether a fault has happened that can leave a request without an answer. */
  doubtful = false
  crashes = 0
  joins = 0
  leaves = 0
  readonly #simulation: Simulation
  readonly #options: FaultOptions
  readonly #random: Random
  readonly #restarts = new Set<string>()
  #stopped = false
  #names = 0
  #silentUntil = 0
  #fading = false

  constructor(simulation: Simulation, options: FaultOptions) {
    this.#simulation = simulation
    this.#options = options
    this.#random = simulation.random.faults
  }

  /** Names of nodes that crashed and will be back. */
  get restarts(): readonly string[] {
    return [...this.#restarts]
  }

  /** The next name nobody had. */
  nextName(): string {
    const number = this.#names++
    const letter = String.fromCharCode(97 + (number % 26))
    return number < 26 ? letter : `${letter}${Math.floor(number / 26)}`
  }

  start(): void {
    const { faults } = this.#options
    this.#repeat('join', () => this.#join())
    this.#repeat('leave', () => this.#leave())
    if (faults === 'network' || faults === 'all') {
      this.#repeat('weather', () => this.#changeWeather())
      this.#repeat('partition', () => this.#partition())
      this.#repeat('clientCut', () => this.#cutClient())
      if (this.#options.accusations) this.#repeat('accusation', () => this.#accuse())
    }
    if (faults === 'crash' || faults === 'all') {
      this.#repeat('crash', () => this.#crash())
      this.#repeat('pause', () => this.#pause())
    }
  }

  /** No more faults, and those under way end. */
  stop(): void {
    const simulation = this.#simulation
    this.#stopped = true
    simulation.note('faults', 'end', '')
    simulation.network.heal()
    for (const host of simulation.hosts) simulation.resume(host.name)
    for (const name of this.#restarts) this.#restart(name)
    this.#startAgain()
  }

  /** A newcomer whose every address has left knows nobody: whoever runs it starts it again with others. */
  #startAgain(): void {
    const simulation = this.#simulation
    const running = simulation.hosts.filter(({ node }) => node !== undefined)
    const names = running.filter((host) => isIn(host) && !host.leaving).map(({ name }) => name)
    if (names.length === 0) return
    for (const host of running) {
      if (isIn(host)) continue
      const { leaving } = host
      simulation.crash(host.name)
      if (!leaving) simulation.start(host.name, names)
    }
  }

  /** The limit for anything that makes a node silent. */
  get silenceMsMax(): number {
    const { deadAfterMs } = this.#simulation.options.config
    return this.#options.shortFaults ? deadAfterMs * 0.4 : LONG_FAULT_MS
  }

  #repeat(kind: FaultKind, act: () => boolean): void {
    const { queue } = this.#simulation
    const drawn = this.#random.pick(RATES)
    const rate = this.#options.rates?.[kind] ?? drawn
    if (rate === 0) return
    const meanMs = EVERY_MS[kind] / rate
    const again = (): void => {
      if (this.#stopped) return
      const done = act()
      queue.after(done ? this.#exponential(meanMs) : RETRY_MS, again)
    }
    queue.after(this.#exponential(meanMs), again)
  }

  #exponential(meanMs: number): number {
    return -Math.log(1 - this.#random.fraction()) * meanMs
  }

  #join(): boolean {
    const { staying } = this.#simulation
    if (staying.length >= this.#options.nodesMax || staying.length === 0) return true
    this.joins++
    this.#simulation.start(this.nextName(), this.#drawJoin())
    return true
  }

  /** Some that are up and to stay; one of them may be gone when it is asked. */
  #drawJoin(): string[] {
    return this.#random.shuffle(this.#simulation.staying).slice(0, this.#random.between(1, 3))
  }

  #leave(): boolean {
    const simulation = this.#simulation
    const { staying } = simulation
    if (staying.length <= Math.max(2, this.#options.nodesMin)) return true
    const name = this.#random.pick(staying)
    // The last one that is in would take the cluster with it: those who wait to get in would find nobody.
    if (!staying.some((other) => other !== name && isIn(simulation.host(other)))) return true
    this.leaves++
    simulation.leave(name)
    return true
  }

  #changeWeather(): boolean {
    const { network, staying } = this.#simulation
    const random = this.#random
    const quality = this.#drawQuality()
    if (random.chance(0.5)) {
      network.setQualityOfAll(quality)
    } else if (staying.length > 1) {
      const [from, to] = random.shuffle(staying)
      network.setQuality(from, to, quality)
      if (random.chance(0.5)) network.setQuality(to, from, quality)
    }
    const { delayMs, jitterMs, loss, duplication, reordering } = quality
    const delay = `${delayMs.toFixed(1)}+${jitterMs.toFixed(1)} ms`
    const rates = [loss, duplication, reordering].map((rate) => rate.toFixed(3)).join(' ')
    this.#simulation.note('faults', 'weather', `${delay}, loss double reorder ${rates}`)
    return true
  }

  #drawQuality(): LinkQuality {
    const random = this.#random
    if (random.chance(0.2)) return GOOD_LINK
    const slow = random.chance(0.15)
    return {
      delayMs: slow ? random.between(10, 60) : 0.2 + random.fraction() * 3,
      jitterMs: random.fraction() * (slow ? 30 : 5),
      loss: random.chance(0.5) ? random.fraction() * 0.1 : 0,
      duplication: random.chance(0.4) ? random.fraction() * 0.1 : 0,
      reordering: random.chance(0.4) ? random.fraction() * 0.1 : 0
    }
  }

  /** Whether a silence may begin now, and if so, how long it is. */
  #drawSilence(): number | undefined {
    const { now, options } = this.#simulation
    if (this.#options.shortFaults && now < this.#silentUntil + options.config.deadAfterMs) {
      return undefined
    }
    const ms = 5 + this.#random.fraction() * (this.silenceMsMax - 5)
    this.#silentUntil = now + ms
    return ms
  }

  #partition(): boolean {
    const simulation = this.#simulation
    const random = this.#random
    const names = random
      .shuffle(simulation.hosts.filter((h) => h.node !== undefined))
      .map((h) => h.name)
    if (names.length < 2) return true
    const ms = this.#drawSilence()
    if (ms === undefined) return false
    this.doubtful = true
    // One node alone, two halves, or only one pair.
    const shape = random.pick(['one', 'half', 'pair'] as const)
    const size = shape === 'half' ? Math.floor(names.length / 2) : 1
    const inside = names.slice(0, size)
    const outside = shape === 'pair' ? [names[1]] : names.slice(size)
    const direction = random.pick(['both', 'both', 'out', 'in'] as const)
    this.#simulation.note(
      'faults',
      'cut',
      `${inside.join(',')} | ${outside.join(',')} ${direction} ${ms.toFixed(0)} ms`
    )
    const each = (act: (from: string, to: string) => void): void => {
      for (const a of inside) {
        for (const b of outside) {
          if (direction !== 'in') act(a, b)
          if (direction !== 'out') act(b, a)
        }
      }
    }
    const apart = direction === 'both' && shape !== 'pair' ? this.#minority(inside, outside) : []
    const over = this.#options.onSilence('partition', apart)
    each((from, to) => simulation.network.cut(from, to))
    simulation.queue.after(ms, () => {
      each((from, to) => simulation.network.mend(from, to))
      over()
    })
    return true
  }

  /** Those who can hear no majority while the two sides are apart. */
  #minority(inside: readonly string[], outside: readonly string[]): string[] {
    const voters = newestVoters(this.#simulation.view().nodes)
    if (voters?.byMajority !== true) return []
    const isMajority = (side: readonly string[]): boolean =>
      voters.voters.filter(({ name }) => side.includes(name)).length > voters.voters.length / 2
    return [inside, outside].filter((side) => !isMajority(side)).flat()
  }

  #cutClient(): boolean {
    this.#options.cutClient()
    return true
  }

  /** Some client says of some primary that it does not answer, true or not. */
  #accuse(): boolean {
    const simulation = this.#simulation
    const running = simulation.hosts.filter((host) => host.state === 'running')
    if (running.length === 0) return true
    const host = this.#random.pick(running)
    const rows = host.node?.inspect().rows ?? []
    if (rows.length === 0) return true
    const { bucket, epoch } = this.#random.pick(rows)
    const ignore = (): void => undefined
    const handlers = { onBytes: ignore, onClosed: ignore, onRetire: ignore }
    const connection = simulation.connect(host.name, handlers)
    const words = ['OC.WITNESS', `${bucket}`, `${epoch}`]
    connection?.send(encodeArguments(words.map(latin1Bytes)))
    connection?.close()
    return true
  }

  #pause(): boolean {
    const simulation = this.#simulation
    const running = simulation.hosts.filter((host) => host.state === 'running')
    if (running.length === 0) return true
    const ms = this.#drawSilence()
    if (ms === undefined) return false
    this.doubtful = true
    const { name } = this.#random.pick(running)
    const over = this.#options.onSilence('pause', [name])
    simulation.pause(name)
    simulation.queue.after(ms, () => {
      simulation.resume(name)
      over()
    })
    return true
  }

  #crash(): boolean {
    if (this.#fading || !this.#mayCrash()) return false
    const simulation = this.#simulation
    const running = simulation.hosts.filter((host) => host.node !== undefined)
    const { name } = this.#random.pick(running)
    if (!this.#mayLose(name)) return false
    if (this.#random.chance(0.5)) {
      this.#takeDown(name, this.#random.chance(0.5))
      return true
    }
    return this.#fade(name)
  }

  /** Whether losing any one node now loses nothing that was promised. */
  #mayCrash(): boolean {
    const simulation = this.#simulation
    const { copies } = simulation.options.config
    if (simulation.staying.length <= Math.max(2, copies)) return false
    if (!this.#options.carefulCrashes) return true
    if (this.#restarts.size >= copies - 1) return false
    const view = simulation.view()
    if (this.#options.mayPart && isParted(view)) return false
    return this.#staysDecided(newestVoters(view.nodes)) && hasAllCopies(view)
  }

  /** A node that is changing rows may be the only one that holds something by a row that nobody has learned yet. */
  #mayLose(name: string): boolean {
    if (!this.#options.carefulCrashes) return true
    if ((this.#simulation.host(name).node?.inspect().deciding ?? 0) > 0) return false
    // Nor may it be the only one to know that those who decide are others now.
    const nodes = this.#simulation.view().nodes.filter((node) => node.name !== name)
    return this.#staysDecided(newestVoters(nodes))
  }

  /** Whether those who decide can lose any one of them and still be a majority. */
  #staysDecided(newest: Voters): boolean {
    if (newest?.byMajority !== true) return true
    const up = newest.voters.filter(({ name, life }) => {
      const host = this.#simulation.findHost(name)
      return host?.node !== undefined && host.life === life
    })
    return up.length - 1 > newest.voters.length / 2
  }

  /**
   * The network goes first and the node a little later: what it does in between nobody hears of, but its own
   * clients. Whatever it tells them then must not be forgotten.
   */
  #fade(name: string): boolean {
    const ms = this.#drawSilence()
    if (ms === undefined) return false
    const simulation = this.#simulation
    const others = simulation.hosts.map((host) => host.name).filter((other) => other !== name)
    const { network } = simulation
    this.doubtful = true
    this.#fading = true
    simulation.note('faults', 'fade', `${name} ${ms.toFixed(0)} ms`)
    for (const other of others) network.cut(name, other)
    simulation.queue.after(ms, () => {
      for (const other of others) network.mend(name, other)
      this.#fading = false
      const isUp = simulation.host(name).node !== undefined
      if (!this.#stopped && isUp && this.#mayCrash() && this.#mayLose(name))
        this.#takeDown(name, true)
    })
    return true
  }

  #takeDown(name: string, power: boolean): void {
    const simulation = this.#simulation
    const { leaving } = simulation.host(name)
    this.doubtful = true
    this.crashes++
    simulation.crash(name, power)
    // It is back before anybody missed it, or later, or never.
    const fate = this.#random.fraction()
    const ms = fate < 0.3 ? this.#random.between(20, 400) : this.#random.between(1500, 6000)
    if (fate > 0.8 || leaving) return
    this.#restarts.add(name)
    simulation.queue.after(ms, () => this.#restart(name))
  }

  #restart(name: string): void {
    if (!this.#restarts.delete(name)) return
    this.#simulation.start(name, this.#drawJoin())
  }
}

/** Whether a node is part of the cluster, as far as it knows. */
function isIn({ node }: { readonly node?: DrivenNode | undefined }): boolean {
  return node !== undefined && (node.inspect().voters?.version ?? 1) > 0
}

type Voters = ClusterView['nodes'][number]['voters']

function newestVoters(nodes: ClusterView['nodes']): Voters {
  let newest: Voters
  for (const { voters } of nodes) {
    if ((voters?.version ?? 0) > (newest?.version ?? 0)) newest = voters
  }
  return newest
}
