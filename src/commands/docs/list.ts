/** What the commands of lists are for; the form of the lines is told in command-docs.ts. */
export const LIST_DOCS = `
blmove source destination (wherefrom=LEFT|RIGHT) (whereto=LEFT|RIGHT) timeout
  6.2.0 O(1) Moves an element from one list to another, and waits until there is one
blmpop timeout numkeys key... (where=LEFT|RIGHT) [COUNT count]
  7.0.0 O(keys+returned) Takes elements from the first list that has any, and waits for one that does
blpop key... timeout
  2.0.0 O(keys) Takes the first element of the first list that has one, and waits for it
brpop key... timeout
  2.0.0 O(keys) Takes the last element of the first list that has one, and waits for it
brpoplpush source destination timeout
  2.2.0 O(1) Moves the last element of a list to the head of another, and waits for it
  rather 6.2.0 BLMOVE with RIGHT and LEFT
lindex key index
  1.0.0 O(distance) Reads the element at a place of a list
linsert key (where=BEFORE|AFTER) pivot element
  2.2.0 O(distance) Inserts an element before or after the first that is equal to another
llen key
  1.0.0 O(1) Tells how many elements a list has
lmove source destination (wherefrom=LEFT|RIGHT) (whereto=LEFT|RIGHT)
  6.2.0 O(1) Moves an element from one end of a list to an end of another
lmpop numkeys key... (where=LEFT|RIGHT) [COUNT count]
  7.0.0 O(keys+returned) Takes elements from the first of several lists that has any
lpop key [count]
  1.0.0 O(returned) Takes elements from the head of a list
lpos key element [RANK rank] [COUNT count] [MAXLEN len]
  6.0.6 O(length) Finds the places of an element in a list
lpush key element...
  1.0.0 O(elements) Adds elements at the head of a list, and makes the list if need be
lpushx key element...
  2.2.0 O(elements) Adds elements at the head of a list that is there
lrange key start stop
  1.0.0 O(distance+returned) Reads the elements between two places of a list
lrem key count element
  1.0.0 O(length) Removes the elements that are equal to this one, or so many of them
lset key index element
  1.0.0 O(distance) Replaces the element at a place of a list
ltrim key start stop
  1.0.0 O(removed) Keeps the elements between two places and removes the others
rpop key [count]
  1.0.0 O(returned) Takes elements from the tail of a list
rpoplpush source destination
  1.2.0 O(1) Moves the last element of a list to the head of another
  rather 6.2.0 LMOVE with RIGHT and LEFT
rpush key element...
  1.0.0 O(elements) Adds elements at the tail of a list, and makes the list if need be
rpushx key element...
  2.2.0 O(elements) Adds elements at the tail of a list that is there
`
