/** What the commands of sorted sets are for; the form of the lines is told in command-docs.ts. */
export const SORTED_SET_DOCS = `
bzmpop timeout numkeys key... (where=MIN|MAX) [COUNT count]
  7.0.0 O(keys+returned*log(members)) Takes members from the first sorted set that has any, and waits for one that does
bzpopmax key... timeout
  5.0.0 O(keys+log(members)) Takes the member with the highest score, and waits until there is one
bzpopmin key... timeout
  5.0.0 O(keys+log(members)) Takes the member with the lowest score, and waits until there is one
zadd key [condition=NX|XX] [comparison=GT|LT] [CH] [INCR] (score member)...
  1.2.0 O(added*log(members)) Adds members with their scores, or changes the scores of those there
zcard key
  1.2.0 O(1) Tells how many members a sorted set has
zcount key min:double max:double
  2.0.0 O(log(members)) Counts the members with scores between two bounds
zdiff numkeys key... [WITHSCORES]
  6.2.0 O(members*log(members)) Reads what is in the first sorted set and in none of the others
zdiffstore destination numkeys key...
  6.2.0 O(members*log(members)) Stores what is in the first sorted set and in none of the others
zincrby key increment:double member
  1.2.0 O(log(members)) Adds to the score of a member
zinter numkeys key... [WEIGHTS weight...] [AGGREGATE (SUM|MIN|MAX)] [WITHSCORES]
  6.2.0 O(smallest*keys+returned*log(returned)) Reads what is in all of these sets, with scores made of theirs
zintercard numkeys key... [LIMIT limit]
  7.0.0 O(smallest*keys) Counts what is in all of these sorted sets, up to a limit if wanted
zinterstore destination numkeys key... [WEIGHTS weight...] [AGGREGATE (SUM|MIN|MAX)]
  2.0.0 O(smallest*keys+stored*log(stored)) Stores what is in all of these sets, with scores made of theirs
zlexcount key min max
  2.8.9 O(log(members)) Counts the members between two words, where all scores are equal
zmpop numkeys key... (where=MIN|MAX) [COUNT count]
  7.0.0 O(keys+returned*log(members)) Takes members from the first of several sorted sets that has any
zmscore key member...
  6.2.0 O(asked) Reads the scores of several members
zpopmax key [count]
  5.0.0 O(returned*log(members)) Takes the members with the highest scores
zpopmin key [count]
  5.0.0 O(returned*log(members)) Takes the members with the lowest scores
zrandmember key [options=count [WITHSCORES]]
  6.2.0 O(returned) Draws members by chance, with their scores if wanted
zrange key start:string stop:string [sortby=BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES]
  1.2.0 O(log(members)+returned) Reads a range of members by rank, by score or by name
zrangebylex key min max [LIMIT offset count]
  2.8.9 O(log(members)+returned) Reads the members between two words, where all scores are equal
  rather 6.2.0 ZRANGE with BYLEX
zrangebyscore key min:double max:double [WITHSCORES] [LIMIT offset count]
  1.0.5 O(log(members)+returned) Reads the members with scores between two bounds, lowest first
  rather 6.2.0 ZRANGE with BYSCORE
zrangestore destination source min max [sortby=BYSCORE|BYLEX] [REV] [LIMIT offset count]
  6.2.0 O(log(members)+stored) Stores a range of members by rank, by score or by name
zrank key member [WITHSCORE]
  2.0.0 O(log(members)) Tells how many members come before one, counted from the lowest score
zrem key member...
  1.2.0 O(removed*log(members)) Removes members, and the sorted set with the last of them
zremrangebylex key min max
  2.8.9 O(log(members)+removed) Removes the members between two words, where all scores are equal
zremrangebyrank key start stop
  2.0.0 O(log(members)+removed) Removes the members between two ranks
zremrangebyscore key min:double max:double
  1.2.0 O(log(members)+removed) Removes the members with scores between two bounds
zrevrange key start stop [WITHSCORES]
  1.2.0 O(log(members)+returned) Reads the members between two ranks, highest score first
  rather 6.2.0 ZRANGE with REV
zrevrangebylex key max min [LIMIT offset count]
  2.8.9 O(log(members)+returned) Reads the members between two words backwards, where scores are equal
  rather 6.2.0 ZRANGE with REV and BYLEX
zrevrangebyscore key max:double min:double [WITHSCORES] [LIMIT offset count]
  2.2.0 O(log(members)+returned) Reads the members with scores between two bounds, highest first
  rather 6.2.0 ZRANGE with REV and BYSCORE
zrevrank key member [WITHSCORE]
  2.0.0 O(log(members)) Tells how many members come before one, counted from the highest score
zscan key cursor [MATCH pattern] [COUNT count]
  2.8.0 O(1) Goes through the members and scores of a sorted set, some at a time
zscore key member
  1.2.0 O(1) Reads the score of a member
zunion numkeys key... [WEIGHTS weight...] [AGGREGATE (SUM|MIN|MAX)] [WITHSCORES]
  6.2.0 O(members+returned*log(returned)) Reads what is in any of these sets, with scores made of theirs
zunionstore destination numkeys key... [WEIGHTS weight...] [AGGREGATE (SUM|MIN|MAX)]
  2.0.0 O(members+stored*log(stored)) Stores what is in any of these sets, with scores made of theirs
`
