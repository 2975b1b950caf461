/** What `connect` can be told. */
import { OpenClusterError } from '../errors.js'

/** The settings of `connect`. */
export interface ClientOptions {
  /** A command that is not answered within this fails. Default 10,000 ms. */
  readonly timeoutMs?: number
  /** A node that owes an answer for so long is taken for silent, and others are asked. Default 1000 ms. */
  readonly answerMs?: number
  /** How long an attempt to connect may take. Default 3000 ms. */
  readonly connectMs?: number
  /** Whether writes wait for all backups. Default: as the node is set up, normally `all`. */
  readonly acks?: 'all' | 'primary'
  /** Whether writes that may be repeated are sent again when a node dies before it answers. Default false. */
  readonly repeatWrites?: boolean
  /** Commands that may wait for replies at a time; one more fails at once with OC_BUSY. Default 100,000. */
  readonly maxPending?: number
  /** Bytes that may wait for one node to take them; what would be more fails with OC_BUSY. Default 64 MB. */
  readonly maxUnsentBytes?: number
  /** Events that may wait in one `watch`; if there are more the oldest go and a `gap` is told. Default 10,000. */
  readonly maxEvents?: number
}

export type Settings = Required<Omit<ClientOptions, 'acks'>> & {
  readonly acks: 'all' | 'primary' | undefined
}

const DEFAULTS = {
  timeoutMs: 10_000,
  answerMs: 1000,
  connectMs: 3000,
  acks: undefined,
  repeatWrites: false,
  maxPending: 100_000,
  maxUnsentBytes: 64 * 1024 * 1024,
  maxEvents: 10_000
} as const satisfies Settings

export function settle(options: ClientOptions, base: Settings = DEFAULTS): Settings {
  const settings: Settings = { ...base, ...options }
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === 'number' && !(value > 0)) {
      throw new OpenClusterError('OC_BAD_OPTION', `${name} ${value}: must be more than 0`)
    }
  }
  return settings
}
