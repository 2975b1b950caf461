// The balancer and a real node's HTTP door: what it sees and decides is told, kept and shown; and pictures as PNG.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PublishedReport } from '../../src/core/scaling/balancer-report.js'
import { OperationRate } from '../../src/elastic/sources/operation-rate.js'
import { Processes, type NodeProcess } from '../integration/process.js'
import { BalancerProcess } from './balancer-process.js'
import { isPrepared, until } from './namespaces.js'

const processes = new Processes()
let folder: string
let balancer: BalancerProcess | undefined

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'opencluster-door-'))))
afterEach(async () => {
  await balancer?.kill()
  await processes.end()
  rmSync(folder, { recursive: true, force: true })
})

/** A balancer that only looks, at facts that the test writes. */
function look(...more: string[]): BalancerProcess {
  const facts = join(folder, 'facts.json')
  const args = ['lab', '--source', 'command', '--source-command', `cat ${facts}`]
  const limits = [
    '--provider',
    'process',
    '--interval',
    '0.3',
    '--state-dir',
    join(folder, 'state')
  ]
  balancer = new BalancerProcess([...args, ...limits, ...more])
  return balancer
}

function tell(hosts: readonly object[], jobs: readonly object[]): void {
  writeFileSync(join(folder, 'facts.json'), JSON.stringify({ hosts, jobs }))
}

async function read({ http }: NodeProcess): Promise<PublishedReport[]> {
  const response = await fetch(`http://${http}/api/elastic`)
  return ((await response.json()) as { balancers: PublishedReport[] }).balancers
}

describe("a node's HTTP door", () => {
  test('shows the queue, the hosts and the verdicts, and what goes wrong', async () => {
    const node = await processes.start('a')
    expect(await read(node)).toEqual([])
    const submittedAt = Date.now() - 3_600_000
    tell([{ name: 'node001', slots: 1, used: 1 }], [{ id: 1, submittedAt }])
    const { http } = node
    look('--dry-run', '--dashboard', http)
    await until('a report', async () => (await read(node)).length === 1)
    const [report] = await read(node)
    expect(report).toMatchObject({
      cluster: 'lab',
      source: 'command',
      provider: 'process',
      dryRun: true,
      stale: false,
      problem: null,
      statistics: { queued: 1, hosts: 1 },
      actions: [{ kind: 'add', count: 1 }],
      hosts: [{ name: 'node001', state: 'ready', used: 1 }],
      jobs: [{ id: '1', submittedAt }]
    })
    expect(report.verdicts.map(({ rule }) => rule)).toContain('longest-wait')

    writeFileSync(join(folder, 'facts.json'), '{"hosts": [')
    await until('the problem', async () => (await read(node))[0].problem !== null)
    const [bad] = await read(node)
    expect(bad.problem).toContain('not whole JSON')
    expect(bad.hosts).toEqual(report.hosts)
    expect(bad.history.length).toBeGreaterThan(0)
    await balancer?.kill()
    await until('it to be taken for stopped', async () => (await read(node))[0].stale)
  }, 60_000)

  test('takes it only with its token, and only whole', async () => {
    const { http } = await processes.start('a')
    const session = (await (await fetch(`http://${http}/api/session`)).json()) as { token: string }
    const post = async (body: unknown, token: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'x-opencluster-token': token }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await fetch(`http://${http}/api/elastic/lab`, init)).status
    }
    expect(await post({}, 'wrong')).toBe(403)
    expect(await post({}, session.token)).toBe(400)
    expect(await post({ cluster: 'other' }, session.token)).toBe(400)
    expect(await post([], session.token)).toBe(400)
  })

  test('that is not there is one line, and balancing goes on', async () => {
    tell([{ name: 'node001', slots: 1, used: 1 }], [])
    const one = look('--dry-run', '--dashboard', '127.0.0.1:1', '--metrics-port', '0')
    await until('it to be said', () => one.output.includes('the dashboard is not told'))
    const at = /metrics at (\S+)/.exec(one.output)?.[1] ?? ''
    const passes = async (): Promise<number> =>
      Number(/passes_total\S* (\d+)/.exec(await (await fetch(at)).text())?.[1])
    await until('more passes', async () => (await passes()) > 3)
    expect(one.output.match(/the dashboard is not told/g)).toHaveLength(1)
  })
})

test('what a real node says of its operations is understood', async () => {
  const node = await processes.start('a')
  const connection = await processes.connect(node)
  const rate = new OperationRate(5000)
  const nodes = [{ name: 'a', http: node.http }]
  expect(await rate.read(nodes, 1000)).toBeUndefined()
  for (let index = 0; index < 50; index++) await connection.call('SET', `k${index}`, 'v')
  expect(await rate.read(nodes, 2000)).toBe(50)
})

test.skipIf(!isPrepared('pictures'))('pictures as SVG and PNG', async () => {
  tell([{ name: 'node001', slots: 1, used: 1 }], [])
  const one = look('--once', '--plot-stats')
  expect(await one.ended, one.output).toBe(0)
  for (const name of ['queued', 'running', 'hosts', 'wait', 'duration', 'cost']) {
    expect(readFileSync(join(folder, 'state', `${name}.svg`), 'utf8')).toContain('</svg>')
    const png = readFileSync(join(folder, 'state', `${name}.png`))
    expect(png.subarray(1, 4).toString()).toBe('PNG')
  }
})
