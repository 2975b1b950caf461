import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand, runSuccessfully, summarize } from './external-command.js'
import { buildSshCommand, quoteWord } from './place.js'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-command-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !condition(); turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  expect(condition()).toBe(true)
}

describe('an external command', () => {
  test('gives its code and its output', async () => {
    const result = await runCommand(['sh', '-c', 'cat; echo bad >&2; exit 4'], { input: 'in' })
    expect(result).toEqual({ code: 4, stdout: 'in', stderr: 'bad\n' })
  })

  test('that hangs is ended with its children', async () => {
    const file = join(folder, 'pid')
    const argv = ['sh', '-c', `sleep 60 & echo $! > ${file}; wait`]
    await expect(runCommand(argv, { timeoutMs: 300 })).rejects.toThrow(/no answer within 0.3 s/)
    const pid = Number(readFileSync(file, 'utf8'))
    await until(() => !isRunning(pid))
  })

  test('that never stops talking is ended', async () => {
    const failed = runCommand(['yes'], { outputBytesMax: 100_000 })
    await expect(failed).rejects.toThrow(/more than 100000 bytes/)
  })

  test('that leaves a daemon behind is over when it exits', async () => {
    const started = performance.now()
    const file = join(folder, 'pid')
    const { stdout } = await runSuccessfully(['sh', '-c', `sleep 30 & echo $! > ${file}; echo up`])
    const pid = Number(readFileSync(file, 'utf8'))
    expect(isRunning(pid)).toBe(true)
    process.kill(pid)
    expect(stdout).toBe('up\n')
    expect(performance.now() - started).toBeLessThan(5000)
  })

  test('can be stopped', async () => {
    const controller = new AbortController()
    const failed = runCommand(['sleep', '60'], { signal: controller.signal })
    controller.abort()
    await expect(failed).rejects.toThrow(/stopped/)
    await expect(runCommand(['true'], { signal: controller.signal })).rejects.toThrow(/not started/)
  })

  test('what it says is one line without control characters', () => {
    expect(summarize('a\n\u001b[31mb\t c\n')).toBe('a [31mb  c')
    expect(summarize('x'.repeat(1000)).length).toBeLessThan(400)
  })
})

describe('through ssh', () => {
  test('words stay words', async () => {
    const words = ['a b', "it's", '*', '$HOME', '', ';rm', '-x', 'ä']
    const line = words.map(quoteWord).join(' ')
    const { stdout } = await runSuccessfully(['sh', '-c', `printf '%s\\n' ${line}`])
    expect(stdout).toBe(words.map((word) => `${word}\n`).join(''))
  })

  test('a target that looks like an option is none', () => {
    const argv = buildSshCommand({ target: '-oProxyCommand=x' }, ['true'])
    expect(argv.indexOf('--')).toBe(argv.indexOf('-oProxyCommand=x') - 1)
  })
})
