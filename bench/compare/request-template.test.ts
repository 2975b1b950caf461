import { expect, test } from 'vitest'
import { MIXES, type Job } from './job.js'
import { createTemplates, keyText, writeTemplate } from './request-template.js'

const JOB: Job = {
  ports: [1],
  protocol: 'resp',
  mix: 'set',
  connections: 1,
  pipeline: 1,
  keys: 10,
  valueBytes: 3,
  warmupMs: 0,
  durationMs: 1,
  pids: []
}

function write(job: Job): string {
  const [template] = createTemplates(job)
  const bytes = new Uint8Array(template.bytes.length)
  expect(writeTemplate(template, { bytes, at: 0 }, () => 12_345)).toBe(bytes.length)
  return Buffer.from(bytes).toString()
}

test('the key is in its place', () => {
  expect(keyText('key:', 12_345)).toBe('key:0000000000012345')
  const text = write(JOB)
  expect(text).toBe('*3\r\n$3\r\nSET\r\n$20\r\nkey:0000000000012345\r\n$3\r\nvvv\r\n')
  expect(write({ ...JOB, protocol: 'memcached' })).toContain(
    'set key:0000000000012345 0 0 3\r\nvvv'
  )
  expect(write({ ...JOB, protocol: 'http' })).toMatch(/^PUT \S+id=key:0000000000012345 HTTP/)
})

test('no mix leaves a mark where a number belongs', () => {
  for (const mix of MIXES) expect(write({ ...JOB, mix })).not.toMatch(/[#@]/)
})
