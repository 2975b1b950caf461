// Values, numbers, compare-and-set, and many keys at once.
import { connect } from 'opencluster'

const db = await connect(process.argv[2] ?? '127.0.0.1:13600')

await db.set('example:name', 'Ada')
console.log('name:', await db.get('example:name'))

// Everything that is asked in one turn of the event loop travels together.
await db.del('example:visits')
await Promise.all(Array.from({ length: 100 }, () => db.incr('example:visits')))
console.log('visits:', await db.getNumber('example:visits'))

// Only if nobody else was faster.
console.log('swapped:', await db.compareAndSet('example:name', 'Ada', 'Grace'))
console.log('swapped again:', await db.compareAndSet('example:name', 'Ada', 'Hedy'))

await db.close()
