/**
 * Who brings a change of the ring forward: the first by name of those who decide and can be heard, by each node's
 * own view. If two take themselves for it, they propose against each other and one of them wins; nothing else happens.
 * What to propose follows from the configuration, from what the members say of themselves with every beat, and
 * from what they wish for.
 */
import {
  abandon,
  begin,
  finish,
  findMember,
  readdress,
  renew,
  restore,
  strike,
  switchOver,
  votersOf,
  type RingConfiguration,
  type RingMemberRecord
} from '../../core/placement/ring-configuration.js'
import type { RingCluster } from './cluster.js'

/** A wish that is not repeated is over after this. */
const WISH_MS_MAX = 3000

/** What a member said of itself with its last beat. */
export interface MemberStatus {
  readonly life: number
  readonly version: number
  readonly filled: boolean
  readonly drained: boolean
  readonly records: number
}

export class Steward {
  readonly #cluster: RingCluster
  readonly #wishes = new Map<string, { member: RingMemberRecord; heardMs: number }>()
  readonly #statuses = new Map<string, MemberStatus>()

  constructor(cluster: RingCluster) {
    this.#cluster = cluster
  }

  /** True if it is news. */
  wish(member: RingMemberRecord): boolean {
    const { now } = this.#cluster
    const known = this.#wishes.get(member.name)
    if (known !== undefined && known.member.life > member.life) return false
    this.#wishes.set(member.name, { member, heardMs: now })
    return known === undefined || now - known.heardMs > WISH_MS_MAX / 4
  }

  report(name: string, status: MemberStatus): void {
    this.#statuses.set(name, status)
  }

  statusOf(name: string): MemberStatus | undefined {
    return this.#statuses.get(name)
  }

  get isSteward(): boolean {
    const { configuration, config, memory } = this.#cluster
    const first = votersOf(configuration).find(({ name, life }) =>
      name === config.name ? life === memory : this.#cluster.isUp(name)
    )
    return first?.name === config.name
  }

  /** The next configuration, if it is time for one. */
  decide(): RingConfiguration | undefined {
    const { configuration, now } = this.#cluster
    for (const [name, { heardMs }] of this.#wishes) {
      if (now - heardMs > WISH_MS_MAX) this.#wishes.delete(name)
    }
    return this.#renewed() ?? this.#restored() ?? this.#advance(configuration)
  }

  #renewed(): RingConfiguration | undefined {
    const { configuration } = this.#cluster
    for (const { member } of this.#wishes.values()) {
      const known = findMember(configuration, member.name)
      if (known === undefined) continue
      if (member.life > known.life) return renew(configuration, member)
      const isElsewhere = member.life === known.life && member.address !== known.address
      if (isElsewhere) return readdress(configuration, member)
    }
    return undefined
  }

  #restored(): RingConfiguration | undefined {
    const { configuration } = this.#cluster
    const full = configuration.members.filter(
      (member) => member.hollow && this.#says(member, 'filled')
    )
    if (full.length === 0) return undefined
    return restore(
      configuration,
      full.map(({ name }) => name)
    )
  }

  #advance(configuration: RingConfiguration): RingConfiguration | undefined {
    switch (configuration.stage) {
      case 'rest':
        return this.#strike(configuration) ?? this.#begin(configuration)
      case 'filling':
        return this.#abandon(configuration) ?? this.#switchOver(configuration)
      case 'switched': {
        const { patienceMs } = this.#cluster.config
        const all = configuration.members.every(
          (member) =>
            this.#knows(member, configuration.version) ||
            this.#cluster.silentMs(member.name) > patienceMs
        )
        return all ? finish(configuration) : undefined
      }
    }
  }

  #begin(configuration: RingConfiguration): RingConfiguration | undefined {
    // One that is refilled is needed as a source by nobody, and would only have to begin anew.
    const refilled = configuration.members.some(
      ({ hollow, name }) =>
        hollow && this.#cluster.silentMs(name) < this.#cluster.config.deadAfterMs
    )
    if (refilled) return undefined
    return begin(
      configuration,
      [...this.#wishes.values()].map(({ member }) => member)
    )
  }

  /** Leavers that hold nothing any more, or that will not be heard again. */
  #strike(configuration: RingConfiguration): RingConfiguration | undefined {
    const { patienceMs } = this.#cluster.config
    const gone = configuration.members.filter(
      (member) =>
        member.positions.length + member.wanted.length === 0 &&
        (this.#says(member, 'drained') || this.#cluster.silentMs(member.name) > patienceMs)
    )
    if (gone.length === 0) return undefined
    return strike(
      configuration,
      gone.map(({ name }) => name)
    )
  }

  #abandon(configuration: RingConfiguration): RingConfiguration | undefined {
    const { joinPatienceMs } = this.#cluster.config
    const lost = configuration.members.filter(
      ({ name, positions }) =>
        positions.length === 0 && this.#cluster.silentMs(name) > joinPatienceMs
    )
    if (lost.length === 0) return undefined
    return abandon(
      configuration,
      lost.map(({ name }) => name)
    )
  }

  #switchOver(configuration: RingConfiguration): RingConfiguration | undefined {
    const { patienceMs } = this.#cluster.config
    const missing = configuration.members.filter(
      (member) => member.wanted.length > 0 && !member.hollow && !this.#says(member, 'filled')
    )
    const waits = missing.filter(({ name }) => this.#cluster.silentMs(name) <= patienceMs)
    if (waits.length > 0) return undefined
    return switchOver(
      configuration,
      missing.map(({ name }) => name)
    )
  }

  #says(member: RingMemberRecord, what: 'filled' | 'drained'): boolean {
    const { version } = this.#cluster.configuration
    return this.#knows(member, version) && this.#statuses.get(member.name)?.[what] === true
  }

  #knows({ name, life }: RingMemberRecord, version: number): boolean {
    const status = this.#statuses.get(name)
    return status?.life === life && status.version >= version
  }
}
