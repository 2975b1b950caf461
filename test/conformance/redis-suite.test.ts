/**
 * A small part of the Redis project's own suite against one of our nodes; all of it is `npm run test:redis-suite`. The
 * suite is fetched and tclsh installed where that is possible; elsewhere there is nothing to run.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Of scripts/redis-suite.mjs: it has nothing to run with. */
const CANNOT = 3
const UNITS = ['unit/type/incr', 'unit/quit', 'unit/bitfield', 'unit/keyspace']
const TESTS_MIN = 75

describe("the Redis project's own tests", () => {
  it('pass on one node', { timeout: 300_000 }, (context) => {
    const isFetched = existsSync(`${root}node_modules/.cache/redis-suite/redis`)
    if (!isFetched && process.getuid?.() !== 0) {
      context.skip('the suite is not here and cannot be fetched')
      return
    }
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['scripts/redis-suite.mjs', ...UNITS],
      { cwd: root, encoding: 'utf8', timeout: 280_000 }
    )
    if (status === CANNOT && process.env['CI'] !== 'true') {
      context.skip(stderr)
      return
    }
    const counts = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(stdout)
    expect(counts, stdout + stderr).not.toBeNull()
    expect(Number(counts?.[2]), stdout).toBe(0)
    expect(Number(counts?.[1]), stdout).toBeGreaterThanOrEqual(TESTS_MIN)
    expect(status).toBe(0)
  })
})
