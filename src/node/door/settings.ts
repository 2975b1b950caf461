/**
 * What CONFIG GET says and CONFIG SET takes. Clients and their tests ask for these names and set some of them; most
 * mean nothing here and are only remembered by the node they were set on.
 */
import type { NodeConfig } from '../config.js'

const SETTINGS: Readonly<Record<string, string>> = {
  'active-expire-effort': '1',
  activedefrag: 'no',
  appendfsync: 'everysec',
  appendonly: 'no',
  'client-output-buffer-limit':
    'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60',
  'client-query-buffer-limit': '1073741824',
  'cluster-enabled': 'yes',
  'cluster-node-timeout': '15000',
  databases: '1',
  'hash-max-listpack-entries': '512',
  'hash-max-listpack-value': '64',
  'hash-max-ziplist-entries': '512',
  'hash-max-ziplist-value': '64',
  'hll-sparse-max-bytes': '3000',
  hz: '10',
  'latency-monitor-threshold': '0',
  'latency-tracking': 'yes',
  'lazyfree-lazy-eviction': 'no',
  'lazyfree-lazy-expire': 'no',
  'lazyfree-lazy-server-del': 'no',
  'lazyfree-lazy-user-del': 'no',
  'lazyfree-lazy-user-flush': 'no',
  'lfu-decay-time': '1',
  'lfu-log-factor': '10',
  'list-compress-depth': '0',
  'list-max-listpack-size': '-2',
  'list-max-ziplist-size': '-2',
  loglevel: 'notice',
  maxclients: '10000',
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
  'maxmemory-samples': '5',
  'min-replicas-to-write': '0',
  'notify-keyspace-events': '',
  'proto-max-bulk-len': '536870912',
  'repl-backlog-size': '1048576',
  requirepass: '',
  save: '',
  'set-max-intset-entries': '512',
  'slowlog-log-slower-than': '10000',
  'slowlog-max-len': '128',
  'stream-node-max-bytes': '4096',
  'stream-node-max-entries': '100',
  'tcp-keepalive': '300',
  timeout: '0',
  'tracking-table-max-keys': '1000000',
  'zset-max-listpack-entries': '128',
  'zset-max-listpack-value': '64',
  'zset-max-ziplist-entries': '128',
  'zset-max-ziplist-value': '64'
}

/** Different names for one thing. */
const ALIASES: readonly (readonly [string, string])[] = ['hash', 'zset']
  .flatMap((kind) => ['entries', 'value'].map((what) => [kind, what] as const))
  .map(([kind, what]) => [`${kind}-max-listpack-${what}`, `${kind}-max-ziplist-${what}`] as const)
  .concat([['list-max-listpack-size', 'list-max-ziplist-size']])

/** Cannot be changed while a node runs. */
const FIXED = new Set(['cluster-enabled', 'databases', 'bind', 'port'])

export class DoorSettings {
  readonly #values: Map<string, string>

  constructor({ address, maxRequestBytes }: NodeConfig) {
    this.#values = new Map(Object.entries(SETTINGS))
    this.#values.set('proto-max-bulk-len', String(maxRequestBytes))
    this.#values.set('port', /:(\d+)$/.exec(address)?.[1] ?? '0')
    this.#values.set('bind', address.replace(/:\d+$/, ''))
  }

  get names(): string[] {
    return [...this.#values.keys()]
  }

  get(name: string): string | undefined {
    return this.#values.get(name)
  }

  number(name: string): number {
    return Number(this.#values.get(name) ?? 0)
  }

  isFixed(name: string): boolean {
    return FIXED.has(name)
  }

  set(name: string, value: string): void {
    this.#values.set(name, value)
    for (const pair of ALIASES) {
      if (pair.includes(name)) for (const alias of pair) this.#values.set(alias, value)
    }
  }
}
