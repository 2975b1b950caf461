/** Runs the built command as a user does: in a process of its own. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  /** Without the last line's end. */
  readonly problems: readonly string[]
}

export function opencluster(...args: string[]): Ended {
  if (!existsSync(`${root}dist/src/cli/main.js`)) {
    throw new Error('not built; `npm run setup` first')
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/opencluster', ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 256 * 1024 * 1024
  })
  return { code: status, stdout, problems: stderr.split('\n').slice(0, -1) }
}
