/** What the commands of strings and counters are for; the form of the lines is told in command-docs.ts. */
export const STRING_DOCS = `
append key value
  2.0.0 O(1) Adds bytes to the end of a string; one that is not there is made
decr key
  1.0.0 O(1) Subtracts one from the number that a key holds
decrby key decrement
  1.0.0 O(1) Subtracts a whole number from the one that a key holds
get key
  1.0.0 O(1) Reads a string
getdel key
  6.2.0 O(1) Reads a string and deletes its key
getex key [expiration=EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|PERSIST]
  6.2.0 O(1) Reads a string and says when it is to expire, or that it is not
getrange key start end
  2.4.0 O(length) Reads a part of a string, from one place to another
getset key value
  1.0.0 O(1) Writes a string and answers what was there before
  rather 6.2.0 SET with GET
incr key
  1.0.0 O(1) Adds one to the number that a key holds
incrby key increment
  1.0.0 O(1) Adds a whole number to the one that a key holds
incrbyfloat key increment:double
  2.6.0 O(1) Adds a number with decimals to the one that a key holds
lcs key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]
  7.0.0 O(length*length) Finds the longest run of bytes, gaps allowed, that two strings share
mget key...
  1.0.0 O(keys) Reads several strings
mset (key value)...
  1.0.1 O(keys) Writes several strings
msetnx (key value)...
  1.0.1 O(keys) Writes several strings if none of the keys is there yet
psetex key milliseconds value
  2.6.0 O(1) Writes a string that expires after some milliseconds
set key value [condition=NX|XX] [GET] [expiration=EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]
  1.0.0 O(1) Writes a string, on a condition or for a time if wanted
setex key seconds value
  2.0.0 O(1) Writes a string that expires after some seconds
setnx key value
  1.0.0 O(1) Writes a string if its key is not there yet
setrange key offset value
  2.2.0 O(length) Overwrites a part of a string; what lies before it is filled with zeros
strlen key
  2.2.0 O(1) Tells how many bytes a string has
substr key start end
  1.0.0 O(length) Reads a part of a string, by the old name of GETRANGE
  rather 2.0.0 GETRANGE
`
