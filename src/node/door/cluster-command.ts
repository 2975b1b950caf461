/**
 * CLUSTER: the table as a Redis Cluster client wants to see it. Every bucket is a range of slots, so the whole table is a
 * list of ranges with their primaries. One address has one role to these clients, so backups are named by CLUSTER SLOTS
 * only, and only if they answer at a port of their own (replicas.ts). All slots are always covered; one without a primary is this
 * node's to hold. Whoever asks for the topology is cluster-aware from then on and gets MOVED.
 */
import { NOBODY, type NodeName } from '../../core/ids.js'
import { SLOTS, keySlot, reverse14 } from '../../core/hash/slot.js'
import type { Arguments } from '../../commands/arguments.js'
import { NOT_AN_INTEGER } from '../../commands/error-text.js'
import { latin1String } from '../../core/bytes.js'
import { TYPE_TOMBSTONE } from '../../store/value-type.js'
import type { ReplyWriter } from '../../wire/resp/reply-writer.js'
import type { BucketState } from '../bucket-state.js'
import type { Slot } from '../session.js'
import { container, type Subcommand } from './container.js'
import type { Door, DoorCommand } from './door.js'
import { hexId } from './identity.js'

const INVALID_SLOT = 'ERR Invalid slot'
const BUS_PORT_OFFSET = 10_000

interface Range {
  readonly first: number
  last: number
  readonly node: NodeName
  /** Nodes whose backups of these slots answer at a port of their own. */
  readonly replicas: readonly NodeName[]
}

interface Address {
  readonly host: string
  readonly port: number
}

function addressOf({ cluster }: Door, name: NodeName): Address {
  const { config, members } = cluster
  return parse(name === config.name ? config.address : (members.get(name)?.address ?? ''))
}

function parse(address: string): Address {
  const [, host = address, port = '0'] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? []
  return { host, port: Number(port) }
}

/** Those whose backups of a bucket can be read. */
function replicasOf({ cluster, replicas }: Door, bucket: number): NodeName[] {
  if (!replicas.any) return []
  const { backups } = cluster.table.row(bucket)
  return backups.filter((name) => replicas.addressOf(name) !== undefined)
}

function isSame(one: readonly NodeName[], other: readonly NodeName[]): boolean {
  return one.length === other.length && one.every((name, i) => name === other[i])
}

/** All slots in order, neighbours of one node together, and of the same replicas if those matter. */
function listRanges(door: Door, withReplicas = false): Range[] {
  const { cluster, ranks } = door
  const { table, config } = cluster
  const width = ranks.width(table.mask)
  const ranges: Range[] = []
  for (let first = 0; first < SLOTS; first += width) {
    const primary = table.primaryOf(reverse14(first) & table.mask)
    const node = primary === NOBODY ? config.name : table.nameOf(primary)
    const replicas = withReplicas ? replicasOf(door, reverse14(first) & table.mask) : []
    const before = ranges.at(-1)
    if (before?.node === node && isSame(before.replicas, replicas)) before.last = first + width - 1
    else ranges.push({ first, last: first + width - 1, node, replicas })
  }
  return ranges
}

function writeNode(reply: ReplyWriter, id: string, { host, port }: Address): void {
  reply.array(4)
  reply.bulkString(host)
  reply.integer(port)
  reply.bulkString(id)
  reply.map(0)
}

const SLOTS_PART: Subcommand = {
  arity: 2,
  execute(door, slot) {
    beAware(slot)
    const ranges = listRanges(door, true)
    door.reply(slot, (reply) => {
      reply.array(ranges.length)
      for (const { first, last, node, replicas } of ranges) {
        reply.array(3 + replicas.length)
        reply.integer(first)
        reply.integer(last)
        writeNode(reply, hexId(node), addressOf(door, node))
        for (const name of replicas) {
          writeNode(reply, replicaId(name), parse(door.replicas.addressOf(name) ?? ''))
        }
      }
    })
  }
}

/** The two addresses of a node are two nodes to clients. */
function replicaId(name: NodeName): string {
  return hexId(`backups of ${name}`)
}

/** From here on it knows its way. */
function beAware({ session }: Slot): void {
  session.client.clusterAware = true
}

/** The nodes that are in the cluster, this one first. */
function listNodes({ cluster }: Door): NodeName[] {
  const { config, members } = cluster
  const others = members.all().filter(({ name, state }) => name !== config.name && state !== 'left')
  return [config.name, ...others.map(({ name }) => name)]
}

function isDead({ cluster }: Door, name: NodeName): boolean {
  return name !== cluster.config.name && cluster.peers.get(name)?.isOpen !== true
}

const SHARDS: Subcommand = {
  arity: 2,
  execute(door, slot) {
    beAware(slot)
    const ranges = listRanges(door)
    const nodes = listNodes(door)
    door.reply(slot, (reply) => {
      reply.array(nodes.length)
      for (const name of nodes) {
        const own = ranges.filter(({ node }) => node === name)
        const { host, port } = addressOf(door, name)
        reply.map(2)
        reply.bulkString('slots')
        reply.array(own.length * 2)
        for (const { first, last } of own) {
          reply.integer(first)
          reply.integer(last)
        }
        reply.bulkString('nodes')
        reply.array(1)
        const fields = { id: hexId(name), port, ip: host, endpoint: host, role: 'master' }
        reply.map(Object.keys(fields).length + 2)
        for (const [field, value] of Object.entries(fields)) {
          reply.bulkString(field)
          if (typeof value === 'number') reply.integer(value)
          else reply.bulkString(value)
        }
        reply.bulkString('replication-offset')
        reply.integer(0)
        reply.bulkString('health')
        reply.bulkString(isDead(door, name) ? 'fail' : 'online')
      }
    })
  }
}

const NODES: Subcommand = {
  arity: 2,
  execute(door, slot) {
    beAware(slot)
    const ranges = listRanges(door)
    const { config, peers, table, now } = door.cluster
    const lines = listNodes(door).map((name) => {
      const { host, port } = addressOf(door, name)
      const own = ranges.filter(({ node }) => node === name)
      const slots = own.map(({ first, last }) => (first === last ? first : `${first}-${last}`))
      const dead = isDead(door, name)
      const role = name === config.name ? 'myself,master' : dead ? 'master,fail' : 'master'
      const pong = Math.floor(peers.get(name)?.lastHeardMs ?? now)
      const fields = [
        hexId(name),
        `${host}:${port}@${port + BUS_PORT_OFFSET}`,
        role,
        '-',
        '0',
        String(name === config.name ? 0 : pong),
        String(table.version),
        dead ? 'disconnected' : 'connected',
        ...slots
      ]
      return `${fields.join(' ')}\n`
    })
    door.reply(slot, (reply) => reply.verbatim('txt', lines.join('')))
  }
}

const INFO: Subcommand = {
  arity: 2,
  execute(door, slot) {
    const { table } = door.cluster
    const fields = {
      cluster_state: 'ok',
      cluster_slots_assigned: SLOTS,
      cluster_slots_ok: SLOTS,
      cluster_slots_pfail: 0,
      cluster_slots_fail: 0,
      cluster_known_nodes: listNodes(door).length,
      cluster_size: new Set(listRanges(door).map(({ node }) => node)).size,
      cluster_current_epoch: table.version,
      cluster_my_epoch: table.version,
      cluster_stats_messages_sent: 0,
      cluster_stats_messages_received: 0,
      total_cluster_links_buffer_limit_exceeded: 0
    }
    const text = Object.entries(fields).map(([name, value]) => `${name}:${value}\r\n`)
    door.reply(slot, (reply) => reply.verbatim('txt', text.join('')))
  }
}

/** The keys of one slot; there may be more slots in its bucket. */
function keysOf({ items }: BucketState, hash: number, now: number, most: number): Uint8Array[] {
  const keys: Uint8Array[] = []
  if (most === 0) return keys
  items.walk(0, (ref) => {
    if (items.placementHash(ref) !== hash || items.typeOf(ref) === TYPE_TOMBSTONE) return true
    const expiry = items.expiryOf(ref)
    if (expiry === 0 || expiry > now) keys.push(items.keyBytes(ref))
    return keys.length < most
  })
  return keys
}

function readSlot(door: Door, slot: Slot, args: Arguments): number | undefined {
  const number = args.integer(2)
  if (Number.isNaN(number)) door.refuse(slot, NOT_AN_INTEGER)
  else if (number < 0 || number >= SLOTS) door.refuse(slot, INVALID_SLOT)
  else return number
  return undefined
}

const COUNTKEYSINSLOT: Subcommand = {
  arity: 3,
  execute(door, slot, args) {
    const number = readSlot(door, slot, args)
    if (number === undefined) return
    const hash = reverse14(number)
    const { now } = door.cluster
    door.serve(slot, { hash, write: false }, (state, reply) => {
      reply.integer(keysOf(state, hash, now, Infinity).length)
      return false
    })
  }
}

const GETKEYSINSLOT: Subcommand = {
  arity: 4,
  execute(door, slot, args) {
    const number = args.integer(2)
    const most = args.integer(3)
    if (Number.isNaN(number) || Number.isNaN(most)) {
      door.refuse(slot, NOT_AN_INTEGER)
      return
    }
    if (number < 0 || number >= SLOTS || most < 0) {
      door.refuse(slot, 'ERR Invalid slot or number of keys')
      return
    }
    const hash = reverse14(number)
    const { now } = door.cluster
    door.serve(slot, { hash, write: false }, (state, reply) => {
      const keys = keysOf(state, hash, now, most)
      reply.array(keys.length)
      for (const key of keys) reply.bulkString(latin1String(key, 0, key.length))
      return false
    })
  }
}

const empty: Subcommand['execute'] = (door, slot) => door.reply(slot, (reply) => reply.array(0))

/** What an operator of Redis Cluster does by hand, and nobody does here. */
const AUTOMATIC = Object.fromEntries(
  [
    'addslots',
    'addslotsrange',
    'bumpepoch',
    'delslots',
    'delslotsrange',
    'failover',
    'flushslots',
    'forget',
    'meet',
    'replicate',
    'reset',
    'saveconfig',
    'set-config-epoch',
    'setslot'
  ].map((name): [string, Subcommand] => [
    name,
    {
      arity: -2,
      execute: (door, slot) =>
        door.refuse(slot, `ERR CLUSTER ${name.toUpperCase()}: the cluster is managed automatically`)
    }
  ])
)

export const CLUSTER = container('cluster', {
  slots: SLOTS_PART,
  shards: SHARDS,
  nodes: NODES,
  info: INFO,
  keyslot: {
    arity: 3,
    execute(door, slot, args) {
      const number = keySlot(args.bytes, args.offset(2), args.length(2))
      door.reply(slot, (reply) => reply.integer(number))
    }
  },
  myid: {
    arity: 2,
    execute(door, slot) {
      const id = hexId(door.cluster.config.name)
      door.reply(slot, (reply) => reply.bulkString(id))
    }
  },
  myshardid: {
    arity: 2,
    execute(door, slot) {
      const id = hexId(`shard of ${door.cluster.config.name}`)
      door.reply(slot, (reply) => reply.bulkString(id))
    }
  },
  countkeysinslot: COUNTKEYSINSLOT,
  getkeysinslot: GETKEYSINSLOT,
  'count-failure-reports': {
    arity: 3,
    execute: (door, slot) => door.reply(slot, (reply) => reply.integer(0))
  },
  replicas: { arity: 3, execute: empty },
  slaves: { arity: 3, execute: empty },
  links: { arity: 2, execute: empty },
  ...AUTOMATIC
})

/** Backups answer at a port of their own only; elsewhere this changes nothing. */
function readCopies(name: string, wanted: boolean): DoorCommand {
  return {
    name,
    arity: 1,
    alone: true,
    execute(door, slot) {
      slot.session.client.readsCopies = wanted
      door.reply(slot, (reply) => reply.ok())
    }
  }
}

/** No slot is ever half here. */
const ASKING: DoorCommand = {
  name: 'asking',
  arity: 1,
  execute: (door, slot) => door.reply(slot, (reply) => reply.ok())
}

export const CLUSTER_COMMANDS: readonly DoorCommand[] = [
  CLUSTER,
  readCopies('readonly', true),
  readCopies('readwrite', false),
  ASKING
]
