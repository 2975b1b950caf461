/** What the commands of hashes are for; the form of the lines is told in command-docs.ts. */
export const HASH_DOCS = `
hdel key field...
  2.0.0 O(fields) Removes fields, and the hash with the last of them
hexists key field
  2.0.0 O(1) Tells whether a hash has a field
hget key field
  2.0.0 O(1) Reads the value of a field
hgetall key
  2.0.0 O(fields) Reads a whole hash, fields and values
hincrby key field increment
  2.0.0 O(1) Adds a whole number to the one in a field
hincrbyfloat key field increment:double
  2.6.0 O(1) Adds a number with decimals to the one in a field
hkeys key
  2.0.0 O(fields) Names all fields of a hash
hlen key
  2.0.0 O(1) Tells how many fields a hash has
hmget key field...
  2.0.0 O(fields) Reads the values of several fields
hmset key (field value)...
  2.0.0 O(fields) Writes several fields, and answers OK
  rather 4.0.0 HSET, which takes several fields as well
hrandfield key [options=count [WITHVALUES]]
  6.2.0 O(returned) Draws fields of a hash by chance, with their values if wanted
hscan key cursor [MATCH pattern] [COUNT count]
  2.8.0 O(1) Goes through the fields and values of a hash, some at a time
hset key (field value)...
  2.0.0 O(fields) Writes fields, and makes the hash if it is not there
hsetnx key field value
  2.0.0 O(1) Writes a field if the hash does not have it yet
hstrlen key field
  3.2.0 O(1) Tells how many bytes the value of a field has
hvals key
  2.0.0 O(fields) Reads all values of a hash, without the fields
`
