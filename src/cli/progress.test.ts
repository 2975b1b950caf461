import { expect, test } from 'vitest'
import { Progress } from './progress.js'

function gather(isTTY: boolean) {
  const written: string[] = []
  const stderr = { isTTY, write: (text: string) => written.push(text) }
  return { written, output: { stdout: stderr, stderr } }
}

test('a terminal sees the bar grow to its end', () => {
  const { written, output } = gather(true)
  const progress = new Progress(output, 2)
  progress.advance('one')
  progress.advance('two')
  expect(written.map((text) => text.slice('\r\u001b[K'.length))).toEqual([
    `[${'#'.repeat(15)}${'.'.repeat(15)}] 1/2 one`,
    `[${'#'.repeat(30)}] 2/2 two`
  ])
})

test('a file sees nothing', () => {
  const { written, output } = gather(false)
  const progress = new Progress(output, 2)
  progress.advance('one')
  progress.clear()
  expect(written).toEqual([])
})
