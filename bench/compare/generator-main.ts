/** The generator's process: takes jobs over its channel one after the other, and ends with the process that started it. */
import type { Job } from './job.js'
import { runLoad } from './load.js'

process.on('message', (job: Job) => {
  void runLoad(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? error.message : String(error) })
  )
})
process.once('disconnect', () => process.exit(0))
