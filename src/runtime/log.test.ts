import { expect, test } from 'vitest'
import { nodeName } from '../core/ids.js'
import { STRUCK } from '../node/repair.js'
import { logEvent } from './event-log.js'
import { Log, type LogFormat, type LogLevel } from './log.js'

function open(level: LogLevel, format: LogFormat) {
  const lines: string[] = []
  const time = { ms: 0 }
  const log = new Log({ level, format, write: (line) => lines.push(line), now: () => time.ms })
  return { log, lines, time }
}

test('lines below the level are left out', () => {
  const { log, lines } = open('warn', 'pretty')
  log.debug('a')
  log.info('b')
  log.warn('c', { node: 'x', count: 2 })
  log.error('d')
  expect(lines).toEqual(['00:00:00.000 warn  c node=x count=2\n', '00:00:00.000 error d\n'])
  const silent = open('silent', 'json')
  silent.log.error('e')
  expect(silent.lines).toEqual([])
})

test('JSON lines are one object each', () => {
  const { log, lines } = open('debug', 'json')
  log.info('joined', { node: 'b\n"' })
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0])).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    level: 'info',
    message: 'joined',
    node: 'b\n"'
  })
})

test('fields cannot forge a line', () => {
  const { log, lines } = open('info', 'pretty')
  log.info('a', { from: 'x\n00:00 error y' })
  expect(lines).toEqual(['00:00:00.000 info  a from="x\\n00:00 error y"\n'])
})

test('what strangers cause is told once in ten seconds, with the rest counted', () => {
  const { log, lines, time } = open('info', 'pretty')
  for (let i = 0; i < 5; i++) log.limited('bad', 'bad bytes')
  log.limited('other', 'wrong secret')
  expect(lines).toHaveLength(2)
  time.ms = 10_000
  log.limited('bad', 'bad bytes')
  expect(lines.at(-1)).toContain('bad bytes suppressed=4')
})

test('decisions are told with their reasons, a few a second, and the others counted', () => {
  const { log, lines, time } = open('info', 'json')
  for (let bucket = 0; bucket < 50; bucket++) log.decision('moved', { bucket, reason: 'r' })
  expect(lines).toHaveLength(10)
  expect(JSON.parse(lines[9])).toMatchObject({ message: 'moved', bucket: 9, reason: 'r' })
  time.ms = 999
  log.sweep()
  expect(lines).toHaveLength(10)
  time.ms = 1000
  log.sweep()
  log.sweep()
  expect(lines).toHaveLength(11)
  expect(JSON.parse(lines[10])).toMatchObject({ message: 'moved', more: 40 })
  log.decision('moved', { bucket: 1, reason: 'r' })
  expect(lines).toHaveLength(12)
})

test('a hundred lost buckets are ten lines and a number, all of them errors', () => {
  const { log, lines, time } = open('info', 'json')
  for (let bucket = 0; bucket < 100; bucket++) logEvent(log, { kind: 'lost', bucket, epoch: 1 })
  time.ms = 1000
  log.sweep()
  expect(lines).toHaveLength(11)
  const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(read.every(({ level }) => level === 'error')).toBe(true)
  expect(read[10]).toMatchObject({ more: 90 })
})

test('a backup that leaves its row is told with the reason, other rows are details', () => {
  const { log, lines } = open('info', 'pretty')
  const row = { kind: 'row', bucket: 3, epoch: 9, primary: nodeName('a'), backups: [] } as const
  logEvent(log, { ...row, reason: 'told' })
  logEvent(log, { ...row, reason: STRUCK })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(
    'warn  struck a backup bucket=3 epoch=9 left=0 reason="a backup is of no use"'
  )
})

test('every key that both sides of a cut wrote has a line, with both versions', () => {
  const { log, lines } = open('info', 'json')
  for (let i = 0; i < 300; i++) {
    const versions = { keptVersion: 9, droppedVersion: 7 }
    logEvent(log, { kind: 'conflict', bucket: 3, key: `k${i}`, ...versions })
  }
  expect(lines).toHaveLength(300)
  expect(JSON.parse(lines[299])).toMatchObject({
    level: 'warn',
    bucket: 3,
    key: 'k299',
    keptVersion: 9,
    droppedVersion: 7
  })
})
