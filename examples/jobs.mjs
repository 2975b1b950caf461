// A queue: every job is given to one worker at a time; one that is not done in time is given to another.
import { connect } from 'opencluster'

const db = await connect(process.argv[2] ?? '127.0.0.1:13600')
const queue = db.queue(`example:jobs:${process.pid}`)

for (let number = 1; number <= 10; number++) await queue.push({ number })

const done = []
async function worker(name) {
  for (;;) {
    const item = await queue.take({ hideMs: 5000, waitMs: 200 })
    if (item === undefined || item === null) return
    done.push(item.value.number)
    console.log(`${name} did job ${item.value.number}`)
    await item.done()
  }
}

await Promise.all([worker('one'), worker('two')])
console.log('done:', done.sort((a, b) => a - b).join(' '))
await db.close()
