/** What the commands of sets are for; the form of the lines is told in command-docs.ts. */
export const SET_DOCS = `
sadd key member...
  1.0.0 O(members) Adds members to a set, and makes the set if it is not there
scard key
  1.0.0 O(1) Tells how many members a set has
sdiff key...
  1.0.0 O(members) Reads what is in the first set and in none of the others
sdiffstore destination key...
  1.0.0 O(members) Stores what is in the first set and in none of the others
sinter key...
  1.0.0 O(smallest*keys) Reads what is in all of these sets
sintercard numkeys key... [LIMIT limit]
  7.0.0 O(smallest*keys) Counts what is in all of these sets, up to a limit if wanted
sinterstore destination key...
  1.0.0 O(smallest*keys) Stores what is in all of these sets
sismember key member
  1.0.0 O(1) Tells whether a set has a member
smembers key
  1.0.0 O(members) Reads all members of a set
smismember key member...
  6.2.0 O(asked) Tells of each of several members whether a set has it
smove source destination member
  1.0.0 O(1) Moves a member from one set to another
spop key [count]
  1.0.0 O(returned) Draws members of a set by chance and removes them
srandmember key [count]
  1.0.0 O(returned) Draws members of a set by chance and leaves them there
srem key member...
  1.0.0 O(removed) Removes members, and the set with the last of them
sscan key cursor [MATCH pattern] [COUNT count]
  2.8.0 O(1) Goes through the members of a set, some at a time
sunion key...
  1.0.0 O(members) Reads what is in any of these sets
sunionstore destination key...
  1.0.0 O(members) Stores what is in any of these sets
`
