/** What the commands of keys of any type are for; the form of the lines is told in command-docs.ts. */
export const GENERIC_DOCS = `
copy source destination [DB database] [REPLACE]
  6.2.0 O(size) Copies a value to another key
del key...
  1.0.0 O(keys) Deletes keys with what they hold
dump key
  2.6.0 O(size) Gives the bytes of a value, for RESTORE
exists key...
  1.0.0 O(keys) Counts how many of these keys are there
expire key seconds [condition=NX|XX|GT|LT]
  1.0.0 O(1) Lets a key expire after some seconds
expireat key unix-time-seconds [condition=NX|XX|GT|LT]
  1.2.0 O(1) Lets a key expire at a time, in seconds since 1970
expiretime key
  7.0.0 O(1) Tells when a key expires, in seconds since 1970
keys pattern
  1.0.0 O(keys) Names all keys of the cluster that fit a pattern
object
  2.2.3 varies Asks how a value is kept
object|encoding key
  2.2.3 O(1) Names the encoding that Redis would have chosen for a value
object|freq key
  4.0.0 O(1) Refuses: how often a key is used is not counted
object|help
  6.2.0 O(1) Names the subcommands of OBJECT
object|idletime key
  2.2.3 O(1) Answers 0 for a key: when it was last used is not kept
object|refcount key
  2.2.3 O(1) Answers 1 for a key that is there: values are not shared
persist key
  2.2.0 O(1) Lets a key stay that was to expire
pexpire key milliseconds [condition=NX|XX|GT|LT]
  2.6.0 O(1) Lets a key expire after some milliseconds
pexpireat key unix-time-milliseconds [condition=NX|XX|GT|LT]
  2.6.0 O(1) Lets a key expire at a time, in milliseconds since 1970
pexpiretime key
  7.0.0 O(1) Tells when a key expires, in milliseconds since 1970
pttl key
  2.6.0 O(1) Tells how many milliseconds a key has left
randomkey
  1.0.0 O(1) Names some key, drawn by chance
rename key newkey
  1.0.0 O(1) Gives a value another key; what that key held is gone
renamenx key newkey
  1.0.0 O(1) Gives a value another key, unless that key is there already
restore key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]
  2.6.0 O(size) Makes a key of the bytes that DUMP gave
scan cursor [MATCH pattern] [COUNT count] [TYPE type]
  2.8.0 O(1) Goes through the keys of the cluster, some at a time
sort key [BY pattern] [LIMIT offset count] [GET pattern]... [order=ASC|DESC] [ALPHA] [STORE destination]
  1.0.0 O(n+returned*log(returned)) Sorts a list, a set or a sorted set, and can store what comes out
sort_ro key [BY pattern] [LIMIT offset count] [GET pattern]... [order=ASC|DESC] [ALPHA]
  7.0.0 O(n+returned*log(returned)) Sorts a list, a set or a sorted set
touch key...
  3.2.1 O(keys) Counts how many of these keys are there, as EXISTS does
ttl key
  1.0.0 O(1) Tells how many seconds a key has left
type key
  1.0.0 O(1) Tells what kind of value a key holds
unlink key...
  4.0.0 O(keys) Deletes keys, as DEL does
wait numreplicas timeout:integer
  3.0.0 O(1) Tells how many other nodes hold what this client wrote before
`
