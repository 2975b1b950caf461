/** What the commands of a node itself are for; the form of the lines is told in command-docs.ts. */
export const SERVER_DOCS = `
bgrewriteaof
  1.0.0 O(1) Refuses: nothing is saved as a whole
bgsave [SCHEDULE]
  1.0.0 O(1) Refuses: nothing is saved as a whole
command
  2.8.13 O(commands) Lists all commands, how they are called and where their keys are
command|count
  2.8.13 O(1) Counts the commands
command|docs [command-name...]
  7.0.0 O(commands) Tells what commands are for and which arguments they take
command|getkeys command-name argument...
  2.8.13 O(arguments) Tells which arguments of a command are keys
command|getkeysandflags command-name argument...
  7.0.0 O(arguments) Tells which arguments of a command are keys, and what it does to them
command|help
  5.0.0 O(1) Names the subcommands of COMMAND
command|info [command-name...]
  2.8.13 O(commands) Tells how commands are called and where their keys are
command|list [FILTERBY (MODULE module-name|ACLCAT category|PATTERN pattern)]
  7.0.0 O(commands) Names the commands
config
  2.0.0 varies Reads and changes the settings of a node
config|get parameter...
  2.0.0 O(parameters) Reads the settings whose names fit a pattern
config|help
  5.0.0 O(1) Names the subcommands of CONFIG
config|resetstat
  2.0.0 O(1) Sets the counters of INFO back to zero
config|rewrite
  2.8.0 O(1) Refuses: settings of a node are not written to a file
config|set (parameter value)...
  2.0.0 O(parameters) Changes settings while the node runs
dbsize
  1.0.0 O(nodes) Counts the keys of the cluster
debug subcommand [argument...]
  1.0.0 varies Does a few harmless things that tests ask for, and refuses the rest
flushall [mode=ASYNC|SYNC]
  1.0.0 O(keys) Deletes all keys of the cluster
flushdb [mode=ASYNC|SYNC]
  1.0.0 O(keys) Deletes all keys of the cluster, as there is one database
info [section...]
  1.0.0 O(1) Tells how this node is, in sections of names and figures
lastsave
  1.0.0 O(1) Tells when this node was started, in seconds since 1970: nothing is saved as a whole
latency
  2.8.13 varies Asks what took this node long
latency|doctor
  2.8.13 O(1) Says in words what took long
latency|graph event
  2.8.13 O(1) Draws how long an event took, with letters
latency|help
  2.8.13 O(1) Names the subcommands of LATENCY
latency|histogram [command...]
  7.0.0 O(commands) Tells how often commands took how long
latency|history event
  2.8.13 O(1) Tells when an event took long, and how long
latency|latest
  2.8.13 O(1) Tells of each event when it last took long, and how long
latency|reset [event...]
  2.8.13 O(1) Forgets what took long
memory
  4.0.0 varies Asks about memory
memory|doctor
  4.0.0 O(1) Says where the state of memory can be read
memory|help
  4.0.0 O(1) Names the subcommands of MEMORY
memory|purge
  4.0.0 O(1) Answers OK: memory is given back by itself
memory|usage key [SAMPLES count]
  4.0.0 O(samples) Estimates how many bytes a key takes with what it holds
monitor
  1.0.0 O(1) Shows this client all commands that come to this node
restore-asking key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]
  3.0.0 O(size) Makes a key of the bytes that DUMP gave, as RESTORE does
save
  1.0.0 O(1) Refuses: nothing is saved as a whole
shutdown [mode=NOSAVE|SAVE] [NOW] [FORCE] [ABORT]
  1.0.0 O(1) Refuses: a node is ended by its operator
slowlog
  2.2.12 varies Asks which commands took this node long
slowlog|get [count]
  2.2.12 O(returned) Lists the latest commands that took long
slowlog|help
  6.2.0 O(1) Names the subcommands of SLOWLOG
slowlog|len
  2.2.12 O(1) Counts the commands that are listed as slow
slowlog|reset
  2.2.12 O(1) Forgets the commands that took long
time
  2.6.0 O(1) Tells the time of this node, in seconds and microseconds since 1970
`
