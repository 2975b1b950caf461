// The load balancer on a real Grid Engine: hosts in namespaces, registered, used, drained, lost and replaced.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseAccounting } from '../../src/elastic/sources/grid-engine-accounting.js'
import { BalancerProcess } from './balancer-process.js'
import { GridEngineCell, prepareGridEngine } from './grid-engine-cell.js'
import { until } from './namespaces.js'

const SLOTS = 2
const canRun = prepareGridEngine()

describe.skipIf(!canRun)('on a real Grid Engine', () => {
  let cell: GridEngineCell
  let balancer: BalancerProcess | undefined
  let config: string

  beforeAll(async () => {
    cell = new GridEngineCell()
    await cell.start()
    config = writeConfig(cell)
  }, 120_000)

  afterEach(async () => {
    await balancer?.kill()
  })

  afterAll(async () => {
    await cell.end()
  }, 120_000)

  const start = (...more: string[]): BalancerProcess => {
    const state = join(cell.folder, 'state')
    const args = ['lab', '--config', config, '--state-dir', state, '--dump-stats', ...more]
    balancer = new BalancerProcess(args)
    return balancer
  }
  /** A job that ends when the test says so. */
  const submitWaiting = (name: string, ...words: string[]): string => {
    const script = join(cell.folder, 'wait.sh')
    writeFileSync(script, '#!/bin/sh\nuntil [ -e "$1" ]; do sleep 0.2; done\n', { mode: 0o755 })
    return cell.submit(...words, script, join(cell.folder, `end-${name}`))
  }
  const endJobs = (name: string): void => writeFileSync(join(cell.folder, `end-${name}`), '')
  const output = (): string => balancer?.output ?? ''
  const runningOn = (): string[] =>
    [...(cell.call('qstat', '-u', '*', '-s', 'r') ?? '').matchAll(/ all\.q@(\S+)/g)].map(
      (m) => m[1]
    )
  const isQueueEmpty = (): boolean => cell.call('qstat', '-u', '*') === ''

  test('hosts come when jobs wait, stay while they work, and go when they idle', async () => {
    // These wait for ever and are no reason for a host.
    const hopeless = [
      cell.submit('-b', 'y', '-l', 'arch=lx-arm', 'sleep', '1'),
      cell.submit('-b', 'y', '-h', 'sleep', '1'),
      cell.submit('-b', 'y', '-pe', 'smp', '64', 'sleep', '1')
    ]
    const long = submitWaiting('long')
    const short = submitWaiting('short', '-t', '1-5')
    start()
    await until(
      () => `six running tasks:\n${output()}`,
      () => runningOn().length === 6
    )
    const hosts = new Set(runningOn())
    expect(hosts.size).toBe(3)
    expect(cell.executionHosts().sort()).toEqual([...hosts].sort())
    expect(cell.network.machines().sort()).toEqual([...hosts].sort())
    for (const host of hosts) expect(cell.network.readHosts(cell.network.master)).toContain(host)

    endJobs('short')
    // Two become idle and go; the one with the long job stays until it ends.
    await until(
      () => `one host left:\n${output()}`,
      () => cell.network.machines().length === 1
    )
    expect(runningOn()).toEqual(cell.network.machines())
    cell.call('qdel', ...hopeless)
    endJobs('long')
    await until('the long job to end', isQueueEmpty)
    await until(
      () => `no host left:\n${output()}`,
      () => cell.network.machines().length === 0
    )
    await until('the registration to be gone', () => cell.executionHosts().length === 0)

    const finished = parseAccounting(cell.call('qacct', '-j') ?? '')
    expect(finished.map(({ id }) => id.split('.')[0]).sort()).toEqual(
      [long, short, short, short, short, short].sort()
    )
    expect(cell.call('qacct', '-j')).not.toMatch(/^failed +[1-9]/m)
    expect(cell.call('qacct', '-j')).not.toMatch(/^exit_status +[1-9]/m)
    expect(output()).toContain('waits in vain')
  }, 180_000)

  test('one that is killed at any step is followed by one that goes on', async () => {
    const job = submitWaiting('killed', '-t', '1-4')
    for (const step of [
      'launch 1/9 done',
      'hosts 3/9 done',
      'register 7/9 done',
      'daemon 8/9 done'
    ]) {
      const one = start()
      await until(
        () => `${step}:\n${output()}`,
        () => output().includes(step) || one.output.includes('added')
      )
      await one.kill()
    }
    start()
    await until(
      () => `the tasks to run:\n${output()}`,
      () => runningOn().length === 4
    )
    expect(cell.network.machines()).toHaveLength(2)
    endJobs('killed')
    await until('the tasks to end', isQueueEmpty)
    for (const step of ['drain 1/6 done', 'deregister 3/6 done']) {
      await until(
        () => `${step}:\n${output()}`,
        () => output().includes(step)
      )
      await balancer?.kill()
      start()
    }
    await until(
      () => `no host left:\n${output()}`,
      () => cell.network.machines().length === 0
    )
    await until('the registration to be gone', () => cell.executionHosts().length === 0)
    const ids = parseAccounting(cell.call('qacct', '-j', job) ?? '').map(({ id }) => id)
    expect(ids.sort()).toEqual([1, 2, 3, 4].map((task) => `${job}.${task}`))
    expect(cell.network.readHosts(cell.network.master)).not.toContain(cell.network.prefix)
  }, 240_000)

  test('a host that dies is replaced, and its job runs again', async () => {
    const job = submitWaiting('lost', '-r', 'y')
    start()
    await until(
      () => `the job to run:\n${output()}`,
      () => runningOn().length === 1
    )
    const [lost] = runningOn()
    cell.network.remove(lost)
    await until(
      () => `it to be given up:\n${output()}`,
      () => output().includes(`${lost}: removed`)
    )
    await until(
      () => `another host for its job:\n${output()}`,
      () => runningOn().length === 1
    )
    endJobs('lost')
    await until('the job to end', isQueueEmpty)
    await until(
      () => `no host left:\n${output()}`,
      () => cell.network.machines().length === 0
    )
    expect(cell.call('qacct', '-j', job)).toMatch(/^exit_status +0/m)
  }, 240_000)

  test('nothing is changed when the scheduler does not answer', async () => {
    const broken = join(cell.folder, 'broken')
    mkdirSync(broken)
    writeFileSync(
      join(broken, 'qstat'),
      '#!/bin/sh\necho "<?xml version=\'1.0\'?><job_info><queue_info>"\n',
      {
        mode: 0o755
      }
    )
    cell.submit('-b', 'y', 'sleep', '5')
    const path = `${broken}:${cell.programs}:${process.env['PATH'] ?? ''}`
    const broke = writeConfig(cell, { file: 'broken.json', path })
    balancer = new BalancerProcess([
      'lab',
      '--config',
      broke,
      '--state-dir',
      join(cell.folder, 'state2')
    ])
    await until('a pass', () => output().includes('not whole XML'))
    expect(cell.network.machines()).toEqual([])
    await balancer.kill()
    start()
    await until(() => `the job to end:\n${output()}`, isQueueEmpty)
    await until(
      () => `no host left:\n${output()}`,
      () => cell.network.machines().length === 0
    )
  }, 120_000)
})

function writeConfig(cell: GridEngineCell, other?: { file: string; path: string }): string {
  const { network, folder, programs, environment } = cell
  const library = join(folder, 'machines.sh')
  writeFileSync(library, network.script)
  const hook = (text: string): string => `. ${library}; ${text}`
  const list = 'machines | sed \'s/.*/{"name":"&","id":"&"}/\' | paste -sd, | sed "s/^/[/;s/$/]/"'
  const config = {
    elastic: {
      lab: {
        source: {
          kind: 'sge',
          env: { PATH: other?.path ?? `${programs}:${process.env['PATH'] ?? ''}` },
          accountingEveryMs: 1000
        },
        scheduler: { slots: SLOTS },
        provider: {
          kind: 'command',
          add: hook(
            'machine_up "$OC_HOST" && echo "{\\"address\\":\\"$(address_of "$OC_HOST")\\"}"'
          ),
          wait: hook('on "$OC_HOST" true'),
          remove: hook('machine_down "$OC_HOST"'),
          list: hook(list)
        },
        steps: {
          hosts: hook('hosts_add "$OC_HOST"'),
          unhosts: hook('hosts_remove "$OC_HOST"'),
          daemon: hook(
            `${environment.replaceAll('\n', '; ')}; [ -n "$(ip netns pids "$OC_HOST")" ] || on "$OC_HOST" /usr/lib/gridengine/sge_execd`
          )
        },
        names: { prefix: network.prefix },
        settleMs: 1500,
        retryMs: 1000,
        progressMs: 300,
        pricePerHour: 0.5,
        policy: {
          intervalMs: 1000,
          hostsMax: 4,
          addPerPass: 2,
          jobWaitMs: 2000,
          billing: { kind: 'second', idleMs: 3000 },
          cooldownDownMs: 1000,
          deadAfterMs: 3000,
          bootTimeoutMs: 60_000,
          bootMs: 5000,
          forecast: false,
          template: {
            slots: SLOTS,
            queues: [{ queue: 'all.q', slots: SLOTS }],
            resources: { arch: 'lx-amd64' }
          }
        }
      }
    }
  }
  const path = join(folder, other?.file ?? 'config.json')
  writeFileSync(path, JSON.stringify(config))
  return path
}
