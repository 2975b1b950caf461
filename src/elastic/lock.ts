/**
 * Only one balancer acts on a cluster. The lock is a file with the process that holds it; one whose process is gone
 * (or whose number was given to another process since) is taken over. A process that comes second is told who is first.
 */
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { isProcess, readStartTime } from './process-identity.js'

interface Holder {
  readonly pid: number
  readonly startTime: string
  readonly host: string
}

export interface Lock {
  release(): void
}

const ATTEMPTS_MAX = 5

export function acquireLock(path: string): Lock {
  const own: Holder = {
    pid: process.pid,
    startTime: readStartTime(process.pid) ?? '',
    host: hostname()
  }
  const text = JSON.stringify(own)
  const beside = `${path}.${own.pid}`
  writeFileSync(beside, text, { mode: 0o600 })
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        // A link is made whole or not at all: nobody ever reads half a lock.
        linkSync(beside, path)
        return { release: () => releaseLock(path, text) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const holder = readHolder(path)
      if (holder === undefined) continue
      if (holder.host !== own.host || isProcess(holder.pid, holder.startTime)) {
        throw new Error(
          `another balancer acts on this cluster: process ${holder.pid} on ${holder.host} (${path})`
        )
      }
      // Of two that find the same dead lock only one gets it out of the way; the other one's rename fails.
      const dead = `${path}.dead.${own.pid}`
      try {
        renameSync(path, dead)
        const moved = readHolder(dead)
        // Somebody else was faster, and this is already the new one: give it back.
        if (moved !== undefined && isProcess(moved.pid, moved.startTime)) linkSync(dead, path)
        rmSync(dead, { force: true })
      } catch {
        // The next attempt finds out what is there now.
      }
    }
    throw new Error(`the lock ${path} changes hands too fast`)
  } finally {
    rmSync(beside, { force: true })
  }
}

function readHolder(path: string): Holder | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  try {
    const { pid, startTime, host } = JSON.parse(text) as Partial<Holder>
    if (typeof pid === 'number' && typeof startTime === 'string' && typeof host === 'string') {
      return { pid, startTime, host }
    }
  } catch {
    // Told below.
  }
  throw new Error(`${path} is no lock of a balancer; remove it if none runs`)
}

function releaseLock(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) unlinkSync(path)
  } catch {
    // It is gone.
  }
}
