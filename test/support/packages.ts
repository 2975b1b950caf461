/**
 * What tests need of Debian's packages. Several kinds of test run at the same time and each installs what it lacks, so
 * they go one after the other; the package manager itself would give up where it finds its lists locked.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LOCK_SECONDS_MAX = 300
const INSTALL_MS_MAX = 600_000

/** Whether these programs are there, if need be from now on. Only root installs anything. */
export function havePrograms(programs: readonly string[], packages: readonly string[]): boolean {
  const isThere = (): boolean => programs.every((path) => existsSync(path))
  if (!isThere() && process.getuid?.() === 0) install(packages)
  return isThere()
}

function install(packages: readonly string[]): void {
  process.stderr.write(`Installing ${packages.join(', ')} for the tests...\n`)
  const lock = join(tmpdir(), 'opencluster-packages.lock')
  const apt = (...words: string[]): number | null =>
    spawnSync('flock', ['-w', String(LOCK_SECONDS_MAX), lock, 'apt-get', '-q', ...words], {
      timeout: INSTALL_MS_MAX,
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    }).status
  const words = ['install', '-y', '--no-install-recommends', ...packages]
  // The lists may be there already, and they take longer than the packages.
  if (apt(...words) === 0) return
  apt('update')
  apt(...words)
}
