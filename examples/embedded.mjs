// Two nodes inside this process: no cluster is needed to try it, and none to test with.
import { connect, startNode } from 'opencluster'

const first = await startNode({ port: 0, name: 'first', logLevel: 'error' })
const second = await startNode({
  port: 0,
  name: 'second',
  join: [first.address],
  logLevel: 'error'
})

const db = await connect(first.address)
await db.mset({ a: '1', b: '2', c: '3' })
console.log('values:', (await db.mget('a', 'b', 'c')).join(' '))
await db.close()

await second.leave()
await first.close()
console.log('stopped')
