/** What the commands of transactions are for; the form of the lines is told in command-docs.ts. */
export const TRANSACTION_DOCS = `
discard
  2.0.0 O(commands) Forgets the commands that were queued since MULTI
exec
  1.2.0 O(commands) Executes what was queued since MULTI, unless a watched key has changed
multi
  1.2.0 O(1) Queues the commands that follow, until EXEC or DISCARD
unwatch
  2.2.0 O(1) Watches none of the keys any more
watch key...
  2.2.0 O(keys) Makes the next EXEC do nothing if one of these keys changes before it
`
