/**
 * Who is on the ring, as one versioned value that all nodes agree on (each version is decided by a majority of the
 * one before it), and the pure steps from one version to the next.
 *
 * A change goes through named stages, so that no request ever has to be refused because of it:
 *   rest      reads and writes go by `positions`
 *   filling   reads go by `positions`, writes to both rings; whoever gains something fetches it
 *   switched  reads go by `wanted`, writes still to both: somebody may still read by `positions`
 * and then `wanted` are the `positions`, and what is surplus is deleted. Joins, removals and changed positions that
 * come together are one change; those that come meanwhile wait for the next.
 *
 * A member is hollow while it may lack something that it should have: it came back without its memory, or could not be
 * heard when it was to be given something. It takes writes, and answers no reads until it has everything again.
 */
import type { NodeName } from '../ids.js'
import { Ring } from './ring.js'

export const RING_STAGES = ['rest', 'filling', 'switched'] as const
export type RingStage = (typeof RING_STAGES)[number]

export interface RingMemberRecord {
  readonly name: NodeName
  /** When its process began. */
  readonly life: number
  /** Where other nodes reach it. */
  readonly address: string
  /** Where clients reach it; its virtual nodes are named after it. */
  readonly url: string
  readonly zone: string
  readonly positions: readonly number[]
  readonly wanted: readonly number[]
  readonly hollow: boolean
  readonly leaving: boolean
}

export interface RingConfiguration {
  readonly version: number
  readonly stage: RingStage
  /** How many copies a record gets if its writer does not say. */
  readonly copies: number
  /** By name. */
  readonly members: readonly RingMemberRecord[]
}

export function ringOf(configuration: RingConfiguration, which: 'positions' | 'wanted'): Ring {
  return new Ring(
    configuration.members.map((member) => ({
      name: member.name,
      zone: member.zone,
      positions: member[which]
    }))
  )
}

/** Equal for configurations between which no data has to move. */
export function placementOf({ members }: RingConfiguration): string {
  return members
    .map(({ name, positions, wanted }) => `${name}:${positions.join()}:${wanted.join()}`)
    .join(';')
}

/** Those who decide on the next version. */
export function votersOf({ members }: RingConfiguration): RingMemberRecord[] {
  return members.filter(({ positions }) => positions.length > 0)
}

export function findMember(
  { members }: RingConfiguration,
  name: string
): RingMemberRecord | undefined {
  return members.find((member) => member.name === name)
}

function next(
  configuration: RingConfiguration,
  change: Partial<Pick<RingConfiguration, 'stage' | 'members'>>
): RingConfiguration {
  const members = [...(change.members ?? configuration.members)]
  members.sort((a, b) => (a.name < b.name ? -1 : 1))
  return { ...configuration, ...change, members, version: configuration.version + 1 }
}

function replace(
  configuration: RingConfiguration,
  act: (member: RingMemberRecord) => RingMemberRecord | undefined
): RingMemberRecord[] {
  return configuration.members.map(act).filter((member) => member !== undefined)
}

/** A process took the place of another one of its name: it remembers nothing. */
export function renew(
  configuration: RingConfiguration,
  record: RingMemberRecord
): RingConfiguration {
  const switched = configuration.stage === 'switched'
  return next(configuration, {
    members: replace(configuration, (member) => {
      if (member.name !== record.name) return member
      const { life, address, url, zone } = record
      const hollow = member.positions.length > 0 || (switched && member.wanted.length > 0)
      return { ...member, life, address, url, zone, hollow }
    })
  })
}

/** It is reached elsewhere, and has forgotten nothing. */
export function readdress(
  configuration: RingConfiguration,
  { name, address, url, zone }: RingMemberRecord
): RingConfiguration {
  return next(configuration, {
    members: replace(configuration, (member) =>
      member.name === name ? { ...member, address, url, zone } : member
    )
  })
}

/** These have everything again. */
export function restore(
  configuration: RingConfiguration,
  names: readonly string[]
): RingConfiguration {
  return next(configuration, {
    members: replace(configuration, (member) =>
      names.includes(member.name) ? { ...member, hollow: false } : member
    )
  })
}

/** Begins a change with all that is wished for; undefined if that is nothing. */
export function begin(
  configuration: RingConfiguration,
  wishes: readonly RingMemberRecord[]
): RingConfiguration | undefined {
  if (configuration.stage !== 'rest') return undefined
  const byName = new Map(wishes.map((wish) => [wish.name, wish]))
  let changed = false
  const members = replace(configuration, (member) => {
    const wish = byName.get(member.name)
    byName.delete(member.name)
    if (wish === undefined || wish.life !== member.life) return member
    const wanted = wish.leaving ? [] : wish.wanted
    if (samePositions(wanted, member.wanted) && wish.leaving === member.leaving) return member
    changed ||= !samePositions(wanted, member.positions)
    return { ...member, wanted, leaving: wish.leaving }
  })
  for (const wish of byName.values()) {
    if (wish.leaving || wish.wanted.length === 0) continue
    members.push({ ...wish, positions: [], hollow: false })
    changed = true
  }
  // Somebody has to stay.
  if (!changed || members.every(({ wanted }) => wanted.length === 0)) return undefined
  return next(configuration, { stage: 'filling', members })
}

/** Everyone has what it gains, but for these, who cannot be heard. */
export function switchOver(
  configuration: RingConfiguration,
  unheard: readonly string[]
): RingConfiguration {
  return next(configuration, {
    stage: 'switched',
    members: replace(configuration, (member) =>
      unheard.includes(member.name) ? { ...member, hollow: true } : member
    )
  })
}

/** Nobody reads by the old ring any more. */
export function finish(configuration: RingConfiguration): RingConfiguration {
  return next(configuration, {
    stage: 'rest',
    members: replace(configuration, (member) => ({ ...member, positions: member.wanted }))
  })
}

/** Newcomers that are not heard any more are given up; with nothing else to do the change is over. */
export function abandon(
  configuration: RingConfiguration,
  names: readonly string[]
): RingConfiguration {
  const members = replace(configuration, (member) =>
    names.includes(member.name) && member.positions.length === 0 ? undefined : member
  )
  const done = members.every(({ positions, wanted }) => samePositions(positions, wanted))
  return next(configuration, { stage: done ? 'rest' : 'filling', members })
}

/** These hold nothing any more and are on no ring. */
export function strike(
  configuration: RingConfiguration,
  names: readonly string[]
): RingConfiguration {
  return next(configuration, {
    members: replace(configuration, (member) =>
      names.includes(member.name) && member.positions.length + member.wanted.length === 0
        ? undefined
        : member
    )
  })
}

export function samePositions(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((position, i) => position === b[i])
}
