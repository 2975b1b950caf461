/** What the commands of a client's own connection are for; the form of the lines is told in command-docs.ts. */
export const CONNECTION_DOCS = `
auth [username] password
  1.0.0 O(1) Says who the client is; there is one user and any password will do
client
  2.4.0 varies Asks about connections, and sets what is particular to this one
client|caching (mode=YES|NO)
  6.0.0 O(1) Says whether the keys of the next command are tracked
client|getname
  2.6.9 O(1) Tells the name that this connection was given
client|getredir
  6.0.0 O(1) Tells which connection gets the invalidations of this one
client|help
  5.0.0 O(1) Names the subcommands of CLIENT
client|id
  5.0.0 O(1) Tells the number of this connection
client|info
  6.2.0 O(1) Describes this connection in one line
client|kill (filter=address|(condition=ID client-id|TYPE (NORMAL|MASTER|SLAVE|REPLICA|PUBSUB)|USER username|ADDR address|LADDR address|SKIPME yes-or-no)...)
  2.4.0 O(clients) Closes the connections of this node that fit all conditions
client|list [filter=TYPE (NORMAL|MASTER|REPLICA|PUBSUB)|ID client-id...]
  2.4.0 O(clients) Describes the connections of this node, a line each
client|maint_notifications (mode=ON|OFF) [MOVING-ENDPOINT-TYPE type]
  8.0.0 O(1) Tells this client of slots that move, as they do
client|no-evict (enabled=ON|OFF)
  7.0.0 O(1) Notes that this client is not to be sent away; nothing follows from it
client|no-touch (enabled=ON|OFF)
  7.2.0 O(1) Notes that reads are not to count as use; nothing follows from it
client|pause timeout:integer [mode=WRITE|ALL]
  2.9.50 O(1) Lets the commands of all clients wait, or those that write
client|reply (mode=ON|OFF|SKIP)
  3.2.0 O(1) Says whether this connection gets replies
client|setinfo (attribute=LIB-NAME name|LIB-VER version)
  7.2.0 O(1) Tells the name or version of the client's library
client|setname name
  2.6.9 O(1) Gives this connection a name
client|tracking (status=ON|OFF) [REDIRECT client-id] [PREFIX prefix]... [BCAST] [OPTIN] [OPTOUT] [NOLOOP]
  6.0.0 O(1) Tells this client when keys change that it has read
client|trackinginfo
  6.2.0 O(1) Tells how keys are tracked for this connection
client|unblock client-id [reason=TIMEOUT|ERROR]
  5.0.0 O(clients) Ends the waiting of a client that a blocking command holds
client|unpause
  6.2.0 O(clients) Ends a CLIENT PAUSE at all nodes
echo message
  1.0.0 O(1) Answers what it was given
hello [arguments=protover [AUTH username password] [SETNAME name]]
  6.0.0 O(1) Chooses the protocol of this connection and tells who answers
ping [message]
  1.0.0 O(1) Answers PONG, or what it was given
quit
  1.0.0 O(1) Answers OK and closes the connection
reset
  6.2.0 O(1) Makes the connection as it was when it was new
select index
  1.0.0 O(1) Chooses a database, of which there is only number 0
`
