/** Which process a number means: numbers are given again, but not together with the moment of the start. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** The 22nd field of Linux's stat, counted after the name, which may contain blanks and brackets. */
const START_FIELD = 22 - 3

/** Undefined when there is no such process, or it has ended and nobody asked how. */
export function readStartTime(pid: number): string | undefined {
  if (existsSync('/proc/self/stat')) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' ? undefined : fields[START_FIELD]
    } catch {
      return undefined
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    timeout: 5000
  })
  return stdout.trim() === '' ? undefined : stdout.trim()
}

export function isProcess(pid: number, startTime: string): boolean {
  return readStartTime(pid) === startTime
}
