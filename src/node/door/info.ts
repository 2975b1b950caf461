/** INFO: the sections and fields that clients and tools read; about this node, as in a Redis cluster. */
import type { Session } from '../session.js'
import type { Door, DoorCommand } from './door.js'
import { hexId, SERVER_VERSION } from './identity.js'

/** About this node, as the client sees it. */
type Section = (door: Door, session: Session) => Fields
type Fields = Readonly<Record<string, string | number>>

const UNITS = ['B', 'K', 'M', 'G', 'T']
const DAY_SECONDS = 86_400

function human(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit++
  }
  return unit === 0 ? `${bytes}B` : `${value.toFixed(2)}${UNITS[unit]}`
}

function server({ cluster, settings }: Door): Fields {
  const { config, now } = cluster
  const uptime = Math.max(0, Math.floor((now - config.life) / 1000))
  return {
    redis_version: SERVER_VERSION,
    redis_git_sha1: '00000000',
    redis_git_dirty: 0,
    redis_mode: 'cluster',
    os: 'OpenCluster',
    arch_bits: 64,
    multiplexing_api: 'epoll',
    process_id: 1,
    process_supervised: 'no',
    run_id: hexId(`${config.name}/${config.life}`),
    tcp_port: settings.number('port'),
    server_time_usec: Math.floor(now * 1000),
    uptime_in_seconds: uptime,
    uptime_in_days: Math.floor(uptime / DAY_SECONDS),
    hz: 10,
    configured_hz: 10,
    executable: '',
    config_file: ''
  }
}

function clients(door: Door): Fields {
  const sessions: Session[] = [...door.sessions()]
  return {
    connected_clients: sessions.length,
    cluster_connections: [...door.cluster.peers.all()].length,
    maxclients: door.settings.number('maxclients'),
    blocked_clients: door.postponed + door.blocked.clients,
    tracking_clients: door.tracking.clients,
    pubsub_clients: sessions.filter(({ subscriptions }) => subscriptions !== undefined).length,
    watching_clients: 0,
    clients_in_timeout_table: 0,
    total_watched_keys: 0,
    total_blocking_keys: door.blocked.list.keys
  }
}

/** Tables and buffers of an empty node, about; clients take 0 for a mistake. */
const STARTUP_BYTES = 1024 * 1024

function memory({ cluster, settings }: Door): Fields {
  const dataset = cluster.store.usedBytes
  const used = STARTUP_BYTES + dataset
  const { reservedBytes } = cluster.store.memory()
  const rss = Math.max(used, reservedBytes)
  const max = settings.number('maxmemory')
  return {
    used_memory: used,
    used_memory_human: human(used),
    used_memory_rss: rss,
    used_memory_rss_human: human(rss),
    used_memory_peak: rss,
    used_memory_peak_human: human(rss),
    used_memory_overhead: STARTUP_BYTES,
    used_memory_startup: STARTUP_BYTES,
    used_memory_dataset: dataset,
    total_system_memory: 0,
    maxmemory: max,
    maxmemory_human: human(max),
    maxmemory_policy: settings.get('maxmemory-policy') ?? '',
    mem_fragmentation_ratio: (rss / used).toFixed(2),
    mem_allocator: 'slab',
    active_defrag_running: 0,
    lazyfree_pending_objects: 0,
    lazyfreed_objects: 0,
    mem_not_counted_for_evict: 0
  }
}

function persistence({ cluster, execution }: Door): Fields {
  return {
    loading: 0,
    async_loading: 0,
    rdb_changes_since_last_save: execution.writes,
    rdb_bgsave_in_progress: 0,
    rdb_last_save_time: Math.floor(cluster.config.life / 1000),
    rdb_last_bgsave_status: 'ok',
    rdb_last_bgsave_time_sec: -1,
    aof_enabled: 0,
    aof_rewrite_in_progress: 0,
    aof_rewrite_scheduled: 0,
    aof_last_bgrewrite_status: 'ok',
    aof_last_write_status: 'ok'
  }
}

function stats(door: Door): Fields {
  const { statistics, pubsub } = door
  return {
    total_connections_received: statistics.connections,
    total_commands_processed: statistics.commands + statistics.aside,
    forwarded_commands: statistics.forwarded,
    instantaneous_ops_per_sec: 0,
    total_net_input_bytes: statistics.inputBytes,
    total_net_output_bytes: statistics.outputBytes + pubsub.pushedBytes,
    rejected_connections: 0,
    sync_full: 0,
    expired_keys: door.expired,
    evicted_keys: door.execution.eviction.evicted,
    keyspace_hits: door.execution.reads - door.execution.misses,
    keyspace_misses: door.execution.misses,
    pubsub_channels: pubsub.size('channels'),
    pubsub_patterns: pubsub.size('patterns'),
    latest_fork_usec: 0,
    migrate_cached_sockets: 0,
    tracking_total_keys: door.tracking.size,
    tracking_total_items: door.tracking.items,
    tracking_total_prefixes: [...door.tracking.prefixes].length,
    total_error_replies: 0
  }
}

function replication({ cluster }: Door, { origin }: Session): Fields {
  const role = origin.asReplica
    ? { role: 'slave', master_link_status: 'up', master_sync_in_progress: 0, slave_read_only: 1 }
    : { role: 'master' }
  return {
    ...role,
    connected_slaves: 0,
    master_failover_state: 'no-failover',
    master_replid: hexId(cluster.config.name),
    master_repl_offset: 0,
    second_repl_offset: -1,
    repl_backlog_active: 0
  }
}

/** How long commands took is known of those that did not just happen. */
function commandStats({ statistics }: Door): Fields {
  const fields: Record<string, string> = {}
  for (const [name, { calls, micros }] of statistics.byName()) {
    const each = (micros / calls).toFixed(2)
    fields[`cmdstat_${name}`] =
      `calls=${calls},usec=${Math.floor(micros)},usec_per_call=${each},rejected_calls=0,failed_calls=0`
  }
  return fields
}

/** Those by which clients find their way; by its rise one sees that they lost it. */
function errorStats({ statistics }: Door): Fields {
  return statistics.moved === 0 ? {} : { errorstat_MOVED: `count=${statistics.moved}` }
}

/** Of the primaries here. */
function keyspace({ cluster }: Door): Fields {
  let [keys, expires] = [0, 0]
  for (const state of cluster.buckets) {
    if (state?.role !== 'primary') continue
    keys += state.items.items
    expires += state.items.expiring
  }
  return keys === 0 ? {} : { db0: `keys=${keys},expires=${expires},avg_ttl=0` }
}

const SECTIONS: Readonly<Record<string, Section>> = {
  Server: server,
  Clients: clients,
  Memory: memory,
  Persistence: persistence,
  Stats: stats,
  Replication: replication,
  CPU: () => ({ used_cpu_sys: '0.000000', used_cpu_user: '0.000000' }),
  Modules: () => ({}),
  Commandstats: commandStats,
  Errorstats: errorStats,
  Cluster: () => ({ cluster_enabled: 1 }),
  Keyspace: keyspace
}

/** Only said to those who ask for them, or for everything. */
const ON_REQUEST = new Set(['Commandstats'])
const GROUPS = new Set(['all', 'everything', 'default'])

function describe(door: Door, session: Session, wanted: ReadonlySet<string>): string {
  const all = wanted.has('all') || wanted.has('everything')
  const usual = wanted.size === 0 || wanted.has('default')
  const texts: string[] = []
  for (const [name, fields] of Object.entries(SECTIONS)) {
    const asked = wanted.has(name.toLowerCase())
    if (!all && !asked && !(usual && !ON_REQUEST.has(name))) continue
    const lines = Object.entries(fields(door, session)).map(
      ([field, value]) => `${field}:${value}\r\n`
    )
    texts.push(`# ${name}\r\n${lines.join('')}`)
  }
  return texts.join('\r\n')
}

export const INFO = {
  name: 'info',
  arity: -1,
  execute(door, slot, args) {
    const wanted = new Set(args.texts(1).map((text) => text.toLowerCase()))
    const known = [...wanted].some(
      (name) => GROUPS.has(name) || Object.keys(SECTIONS).some((s) => s.toLowerCase() === name)
    )
    const text = wanted.size > 0 && !known ? '' : describe(door, slot.session, wanted)
    door.reply(slot, (reply) => reply.verbatim('txt', text))
  }
} as const satisfies DoorCommand
