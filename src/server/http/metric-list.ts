/**
 * Every metric of a node: its name, what it counts, its labels. `/metrics` is made from this list and
 * `docs/metrics.md` too (test/docs), so neither can have one that the other has not.
 */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels?: readonly string[]
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[]
}

const LATENCY_SECONDS = [
  0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5
]
const FAILOVER_SECONDS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30]

export const METRICS = {
  opencluster_info: {
    type: 'gauge',
    help: 'Always 1; who this is.',
    labels: ['node', 'version', 'cluster', 'policy']
  },
  opencluster_serving: {
    type: 'gauge',
    help: '1 while the node serves, as /health says; 0 while it joins, leaves or is cut off.'
  },
  opencluster_operations_total: {
    type: 'counter',
    help: 'Commands by family: of one key and executed here, or `aside`: over several keys or none, or sent on to another node.',
    labels: ['family']
  },
  opencluster_requests_total: {
    type: 'counter',
    help: 'Reads from client connections; each brings one command or a pipeline of them.'
  },
  opencluster_request_duration_seconds: {
    type: 'histogram',
    help: 'From the arrival of a request to its reply, replication included; one request in a few is timed.',
    buckets: LATENCY_SECONDS
  },
  opencluster_connections: {
    type: 'gauge',
    help: 'Open connections on the port for clients and nodes.',
    labels: ['kind']
  },
  opencluster_connections_total: {
    type: 'counter',
    help: 'Client connections since the start.'
  },
  opencluster_memory_bytes: {
    type: 'gauge',
    help: 'Memory: `resident` of the process, `heap` of JavaScript, and of the store: `slabs` reserved, `records` in use in them, `index`, `values` on the heap.',
    labels: ['kind']
  },
  opencluster_memory_fragmentation_ratio: {
    type: 'gauge',
    help: 'Reserved slabs by what is in use in them; 1 is none, and below some megabytes it says nothing.'
  },
  opencluster_items: {
    type: 'gauge',
    help: 'Items held, by the role of their bucket here.',
    labels: ['role']
  },
  opencluster_item_bytes: {
    type: 'gauge',
    help: 'Bytes of keys and values held, by the role of their bucket here.',
    labels: ['role']
  },
  opencluster_buckets: {
    type: 'gauge',
    help: 'Buckets held, by role: primary, backup, incoming or merging.',
    labels: ['role']
  },
  opencluster_nodes: {
    type: 'gauge',
    help: 'Nodes of the cluster by what this one knows of them: alive, leaving, dead or left.',
    labels: ['state']
  },
  opencluster_balanced: {
    type: 'gauge',
    help: '1 when this node sees every copy in place and nothing to move.'
  },
  opencluster_replication_unacknowledged_bytes: {
    type: 'gauge',
    help: 'Sent to another node and not yet processed there.',
    labels: ['peer']
  },
  opencluster_replication_lag_seconds: {
    type: 'gauge',
    help: 'For how long another node has acknowledged nothing although it owes something.',
    labels: ['peer']
  },
  opencluster_held_clients: {
    type: 'gauge',
    help: 'Clients with replies that wait for a backup, another node or a bucket.'
  },
  opencluster_moves_total: {
    type: 'counter',
    help: 'Copies this node shipped as a primary, by what moved and how it ended.',
    labels: ['copy', 'outcome']
  },
  opencluster_moves_active: { type: 'gauge', help: 'Moves from this node under way.' },
  opencluster_shipped_items_total: { type: 'counter', help: 'Items sent in moves.' },
  opencluster_switches_total: {
    type: 'counter',
    help: 'Primary roles this node gave to a backup without shipping anything.'
  },
  opencluster_splits_total: { type: 'counter', help: 'Times all buckets were cut in 16.' },
  opencluster_failovers_total: {
    type: 'counter',
    help: 'Buckets this node took over from a node that was gone.'
  },
  opencluster_failover_duration_seconds: {
    type: 'histogram',
    help: 'From the last word of the node that was gone to the take-over of each bucket.',
    buckets: FAILOVER_SECONDS
  },
  opencluster_buckets_without_backup: {
    type: 'gauge',
    help: 'Buckets of the whole cluster with one living copy although more are wanted.'
  },
  opencluster_buckets_lost: {
    type: 'gauge',
    help: 'Buckets of the whole cluster of which no copy lives.'
  },
  opencluster_buckets_lost_total: {
    type: 'counter',
    help: 'Buckets that this node started empty because all copies were gone.'
  },
  opencluster_conflicts_total: {
    type: 'counter',
    help: 'Keys that both sides of a cut wrote; one version of each was dropped.'
  },
  opencluster_balancer_decisions_total: {
    type: 'counter',
    help: 'What the rules of the balancer said, by rule.',
    labels: ['rule', 'verdict']
  },
  opencluster_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'The longest time of the last minute in which the process could do nothing else.'
  },
  opencluster_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of the process.',
    labels: ['mode']
  },
  opencluster_uptime_seconds: { type: 'gauge', help: 'Since the node began.' }
} as const satisfies Readonly<Record<string, Metric>>

export type MetricName = keyof typeof METRICS
