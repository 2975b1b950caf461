/** What the commands of the topology are for; the form of the lines is told in command-docs.ts. */
export const CLUSTER_DOCS = `
asking
  3.0.0 O(1) Answers OK: no slot is ever half at a node
cluster
  3.0.0 varies Asks about the nodes and the slots they serve
cluster|addslots slot...
  3.0.0 O(1) Refuses: slots are given to nodes by the cluster itself
cluster|addslotsrange (start-slot end-slot)...
  7.0.0 O(1) Refuses: slots are given to nodes by the cluster itself
cluster|bumpepoch
  3.0.0 O(1) Refuses: epochs are counted by the cluster itself
cluster|count-failure-reports node-id
  3.0.0 O(1) Answers 0: suspicions are not told this way
cluster|countkeysinslot slot
  3.0.0 O(keys) Counts the keys of a slot
cluster|delslots slot...
  3.0.0 O(1) Refuses: slots are taken from nodes by the cluster itself
cluster|delslotsrange (start-slot end-slot)...
  7.0.0 O(1) Refuses: slots are taken from nodes by the cluster itself
cluster|failover [options=FORCE|TAKEOVER]
  3.0.0 O(1) Refuses: backups take over by themselves
cluster|flushslots
  3.0.0 O(1) Refuses: slots are taken from nodes by the cluster itself
cluster|forget node-id
  3.0.0 O(1) Refuses: nodes leave by themselves, or when they are no longer heard
cluster|getkeysinslot slot count
  3.0.0 O(keys) Names keys of a slot
cluster|help
  5.0.0 O(1) Names the subcommands of CLUSTER
cluster|info
  3.0.0 O(1) Tells how the cluster is, in lines of names and figures
cluster|keyslot key:string
  3.0.0 O(length) Tells which slot a key belongs to
cluster|links
  7.0.0 O(1) Answers with an empty list: links are told by the metrics
cluster|meet ip port [cluster-bus-port:integer]
  3.0.0 O(1) Refuses: nodes find each other by what they are started with
cluster|myid
  3.0.0 O(1) Tells the id of this node
cluster|myshardid
  7.2.0 O(1) Tells the id of the shard that this node is the primary of
cluster|nodes
  3.0.0 O(nodes) Lists the nodes and their slots, a line a node
cluster|replicas node-id
  5.0.0 O(1) Answers with an empty list: a node backs up parts of several others
cluster|replicate node-id
  3.0.0 O(1) Refuses: who backs up whom is for the cluster to say
cluster|reset [mode=HARD|SOFT]
  3.0.0 O(1) Refuses: a node leaves by its own command
cluster|saveconfig
  3.0.0 O(1) Refuses: nodes keep by themselves what they have to
cluster|set-config-epoch config-epoch
  3.0.0 O(1) Refuses: epochs are counted by the cluster itself
cluster|setslot slot (subcommand=IMPORTING node-id|MIGRATING node-id|NODE node-id|STABLE)
  3.0.0 O(1) Refuses: slots are moved by the cluster itself
cluster|shards
  7.0.0 O(nodes) Lists the slots and the nodes that serve them, by node
cluster|slaves node-id
  3.0.0 O(1) Answers with an empty list, by the old name of CLUSTER REPLICAS
  rather 5.0.0 CLUSTER REPLICAS
cluster|slots
  3.0.0 O(nodes) Lists the slots and the nodes that serve them, by range of slots
  rather 7.0.0 CLUSTER SHARDS
readonly
  3.0.0 O(1) Takes reads from backups as well, at a port that serves them
readwrite
  3.0.0 O(1) Takes reads from primaries only
`
