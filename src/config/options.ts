/**
 * The one table of a node's options. From it come the flags of `opencluster start`, the environment
 * variables (`--dead-after-ms` is OPENCLUSTER_DEAD_AFTER_MS), the keys of a configuration file and of
 * `startNode` (deadAfterMs), and the documentation. An option is in here once its feature works.
 */
import { EVICTION_POLICIES, type EvictionPolicy } from '../core/eviction-policy.js'
import type { PlacementHashName } from '../core/hash/placement-hash.js'
import { isNodeName } from '../core/ids.js'
import { MASK_SPLIT_MAX, MASKS } from '../core/mask.js'
import { isPosition, VNODES_DEFAULT, VNODES_MAX } from '../core/placement/ring.js'
import type { Policy } from '../core/membership/voters.js'
import { MAX_COPIES } from '../core/table.js'
import { judgeAddress } from './address.js'
import {
  choice,
  decimal,
  integer,
  list,
  numberChoice,
  optionalText,
  port,
  replicaPort,
  size,
  text,
  type Option,
  type Options
} from './option.js'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export const LOG_FORMATS = ['pretty', 'json'] as const

/** Taken for HTTP if nobody else has it. */
export const HTTP_PORT = 13680

const MINUTE_MS = 60_000
const HOUR_S = 3600

function judgeName(value: string): string | undefined {
  if (isNodeName(value)) return undefined
  return 'must be up to 63 letters, digits, dots, dashes, colons or underscores, a letter or digit first'
}

function judgePosition(value: string): string | undefined {
  if (/^-?\d{1,10}$/.test(value) && isPosition(Number(value))) return undefined
  return 'must be a signed 32-bit number'
}

function judgeZone(value: string): string | undefined {
  return /^[\x21-\x7e]{0,63}$/.test(value) ? undefined : 'must be up to 63 characters, no blanks'
}

export const NODE_OPTIONS = {
  port: integer('port for clients and nodes; 0 takes any free one', 13600, { min: 0, max: 65_535 }),
  host: text('address to listen on; one beyond this machine needs --secret-file', '127.0.0.1', {
    placeholder: 'HOST'
  }),
  'http-port': port(
    'port for HTTP: dashboard, metrics, health; another free one if it is not given and taken',
    HTTP_PORT
  ),
  'replica-port': replicaPort(
    'a second port, at which backups answer reads of Redis Cluster clients; 0 takes any free one'
  ),
  advertise: optionalText('where other nodes reach this one, if not at --host and --port', {
    placeholder: 'HOST:PORT',
    judge: judgeAddress
  }),
  join: list('a node of the cluster to join (repeatable); none starts a cluster of its own', {
    placeholder: 'HOST:PORT',
    judge: judgeAddress
  }),
  name: optionalText("the node's name, the machine's and the port if not given", {
    placeholder: 'NAME',
    judge: judgeName
  }),
  copies: integer("copies of each bucket, the primary included; the first node's counts", 2, {
    min: 1,
    max: MAX_COPIES
  }),
  buckets: numberChoice(
    "how many buckets there are; the first node's counts",
    256,
    MASKS.filter((mask) => mask <= MASK_SPLIT_MAX).map((mask) => mask + 1)
  ),
  placement: choice<'buckets' | 'ring'>(
    'how keys are spread: over buckets that balance themselves, or over a ring of positions',
    'buckets',
    ['buckets', 'ring']
  ),
  vnodes: integer('positions of this node on the ring, named after its URL', VNODES_DEFAULT, {
    min: 1,
    max: VNODES_MAX
  }),
  positions: list('positions of this node on the ring, instead of --vnodes (repeatable)', {
    placeholder: 'INT32',
    judge: judgePosition
  }),
  'data-dir': optionalText(
    'a folder for what a node of a ring holds, so that it is there again after a restart',
    {
      placeholder: 'DIR'
    }
  ),
  'split-at': integer('cut the buckets in 16 when the ideal falls to this; 0 never', 6, {
    min: 0,
    max: 1024
  }),
  hash: choice<PlacementHashName>('how a key finds its bucket', 'redis', ['redis', 'md5']),
  acks: choice<'all' | 'primary'>('who must have a write before the reply', 'all', [
    'all',
    'primary'
  ]),
  weight: decimal('how much of the load it takes, compared with the others', 1, {
    min: 0.01,
    max: 1000
  }),
  zone: text('where it stands; copies of a bucket go to different zones', '', {
    placeholder: 'ZONE',
    judge: judgeZone
  }),
  policy: choice<Policy>("who decides what a bucket's row says; the first node's counts", 'auto', [
    'auto',
    'majority',
    'available'
  ]),
  'heartbeat-ms': integer('how often it tells the others that it lives', 150, {
    min: 10,
    max: MINUTE_MS,
    unit: 'ms'
  }),
  'dead-after-ms': integer('a node that was silent for so long is replaced by its backups', 900, {
    min: 50,
    max: 10 * MINUTE_MS,
    unit: 'ms'
  }),
  'lost-after': integer('a bucket whose nodes are all silent starts empty after this', 300, {
    min: 0,
    max: 24 * HOUR_S,
    unit: 's'
  }),
  'leave-timeout': integer('how long SIGTERM waits for its copies to be elsewhere', 30, {
    min: 0,
    max: 24 * HOUR_S,
    unit: 's'
  }),
  'move-share': decimal(
    'how much of the time a bucket that moves may take while there are clients; 1 is all of it',
    0.2,
    { min: 0.01, max: 1 }
  ),
  'max-memory': size('what items may take on this node, such as 512mb; 0 is no limit', '0'),
  eviction: choice<EvictionPolicy>(
    'which keys go when that is not enough; lru and lfu go by the last write',
    'noeviction',
    EVICTION_POLICIES
  ),
  'secret-file': optionalText('a file with the secret that all nodes of the cluster share', {
    placeholder: 'FILE'
  }),
  'max-connections': integer('clients that may be connected at a time', 10_000, {
    min: 1,
    max: 1_000_000
  }),
  'log-level': choice<(typeof LOG_LEVELS)[number]>(
    'what is worth a line on stderr',
    'info',
    LOG_LEVELS
  ),
  'log-format': choice<(typeof LOG_FORMATS)[number]>('how the lines look', 'pretty', LOG_FORMATS),
  config: optionalText('a JSON file with any of these, named as in startNode (deadAfterMs)', {
    placeholder: 'FILE'
  })
} as const satisfies Options

export type OptionName = keyof typeof NODE_OPTIONS

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S

/** A node's settings, all of them. */
export type Settings = {
  readonly [K in OptionName as Camel<K>]: (typeof NODE_OPTIONS)[K] extends Option<infer T>
    ? T
    : never
}

export function envNameOf(name: string): string {
  return `OPENCLUSTER_${name.toUpperCase().replaceAll('-', '_')}`
}

/** In configuration files and for `startNode`. */
export function keyOf(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
