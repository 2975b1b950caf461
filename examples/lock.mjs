// A lock with a token that grows. A process that stalls may believe that it still holds the lock; the resource is
// safe from it, because it refuses a token that is smaller than one it has seen.
import { connect } from 'opencluster'

const db = await connect(process.argv[2] ?? '127.0.0.1:13600')

const ledger = {
  largest: 0,
  balance: 0,
  add(amount, token) {
    if (token < this.largest) throw new Error(`token ${token} is too old`)
    this.largest = token
    this.balance += amount
  }
}

async function work() {
  await db.lock('example:ledger').use(async ({ token }) => ledger.add(10, token))
}

await Promise.all([work(), work(), work()])
console.log('balance:', ledger.balance)

try {
  ledger.add(1000, 0)
} catch (error) {
  console.log('refused:', error.message)
}
await db.close()
