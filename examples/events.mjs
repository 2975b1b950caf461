// Hearing of changes: told by whichever node holds the key, over moves and failures.
import { connect } from 'opencluster'

const address = process.argv[2] ?? '127.0.0.1:13600'
const [watcher, writer] = await Promise.all([connect(address), connect(address)])

const events = watcher.watch('example:light:*')
await events.ready

await writer.set('example:light:kitchen', 'on')
await writer.set('example:light:hall', 'on', { ttlMs: 50 })
await writer.del('example:light:kitchen')

const wanted = new Set([
  'set example:light:kitchen',
  'deleted example:light:kitchen',
  'expired example:light:hall'
])
for await (const event of events) {
  const line = `${event.kind} ${event.key}`
  console.log(line)
  wanted.delete(line)
  if (wanted.size === 0) break
}

await Promise.all([watcher.close(), writer.close()])
