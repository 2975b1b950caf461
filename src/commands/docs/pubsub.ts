/** What the commands of channels are for; the form of the lines is told in command-docs.ts. */
export const PUBSUB_DOCS = `
psubscribe pattern...
  2.0.0 O(patterns) Hears the messages of all channels that fit a pattern
publish channel message
  2.0.0 O(subscribers) Sends a message to all who hear a channel, at any node
pubsub
  2.8.0 varies Asks which channels are heard, and by how many
pubsub|channels [pattern]
  2.8.0 O(channels) Names the channels that somebody hears
pubsub|help
  6.2.0 O(1) Names the subcommands of PUBSUB
pubsub|numpat
  2.8.0 O(1) Counts the patterns that somebody subscribed to
pubsub|numsub [channel...]
  2.8.0 O(channels) Counts the subscribers of channels
pubsub|shardchannels [pattern]
  7.0.0 O(channels) Names the shard channels that somebody hears
pubsub|shardnumsub [shardchannel...]
  7.0.0 O(channels) Counts the subscribers of shard channels
punsubscribe [pattern...]
  2.0.0 O(patterns) Hears no more by these patterns, or by none at all
spublish shardchannel message
  7.0.0 O(subscribers) Sends a message to all who hear a shard channel
ssubscribe shardchannel...
  7.0.0 O(channels) Hears the messages of channels that live where a key of their name would
subscribe channel...
  2.0.0 O(channels) Hears the messages of channels
sunsubscribe [shardchannel...]
  7.0.0 O(channels) Hears these shard channels no more, or none at all
unsubscribe [channel...]
  2.0.0 O(channels) Hears these channels no more, or none at all
`
