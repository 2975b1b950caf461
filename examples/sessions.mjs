// Sessions of a web server: JSON under a key that expires, read and renewed with every visit.
import { connect } from 'opencluster'
import { randomUUID } from 'node:crypto'

const MINUTES_30 = 30 * 60_000
const db = await connect(process.argv[2] ?? '127.0.0.1:13600')

const id = randomUUID()
await db.setJson(`session:${id}`, { user: 'ada', cart: ['tea'] }, { ttlMs: MINUTES_30 })

const session = await db.getJson(`session:${id}`)
session.cart.push('milk')
await db.setJson(`session:${id}`, session, { ttlMs: MINUTES_30 })

console.log('cart:', (await db.getJson(`session:${id}`)).cart.join(', '))
console.log(
  'expires:',
  (await db.ttl(`session:${id}`)) > MINUTES_30 - 60_000 ? 'in half an hour' : 'too soon'
)

await db.del(`session:${id}`)
await db.close()
