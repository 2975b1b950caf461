/** Counts the tasks of an array as schedulers list them: `7,9`, `77-2000:1`, `1-19:3` (Grid Engine, Slurm). */
import { FactsError } from './facts-error.js'

const PARTS_MAX = 100_000
const TASKS_MAX = 100_000_000

export function countTasks(list: string, what: string): number {
  const parts = list.split(',')
  if (parts.length > PARTS_MAX) throw new FactsError(`${what}: a list of ${parts.length} tasks`)
  let count = 0
  for (const part of parts) {
    const found = /^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$/.exec(part.trim())
    if (found === null) throw new FactsError(`${what}: ${part.slice(0, 40)} is no list of tasks`)
    const from = Number(found[1])
    const to = Number(found.at(2) ?? from)
    const step = Number(found.at(3) ?? 1)
    if (to < from || step < 1) throw new FactsError(`${what}: ${part} is no range of tasks`)
    count += Math.floor((to - from) / step) + 1
  }
  if (count > TASKS_MAX) throw new FactsError(`${what}: ${count} tasks in one array`)
  return count
}
