// The load balancer on a real Slurm with dynamic nodes: started, used, drained, deleted, lost and replaced.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BalancerProcess } from './balancer-process.js'
import { until } from './namespaces.js'
import { prepareSlurm, SlurmCell } from './slurm-cell.js'

const CPUS = 2
const canRun = prepareSlurm()

describe.skipIf(!canRun)('on a real Slurm', () => {
  let cell: SlurmCell
  let balancer: BalancerProcess | undefined
  let config: string

  beforeAll(async () => {
    cell = new SlurmCell(CPUS)
    await cell.start()
    config = writeConfig(cell)
  }, 120_000)

  afterEach(async () => {
    await balancer?.kill()
  })

  afterAll(async () => {
    await cell.end()
  }, 120_000)

  const start = (): BalancerProcess => {
    const state = join(cell.folder, 'balancer')
    balancer = new BalancerProcess(['lab', '--config', config, '--state-dir', state])
    return balancer
  }
  /** A job that ends when the test says so. */
  const submitWaiting = (name: string, ...words: string[]): string =>
    cell.submit(...words, '--wrap', `until [ -e ${cell.folder}/end-${name} ]; do sleep 0.2; done`)
  const endJobs = (name: string): void => writeFileSync(join(cell.folder, `end-${name}`), '')
  const output = (): string => balancer?.output ?? ''
  const runningOn = (): string[] =>
    (cell.call('squeue', '-h', '-t', 'R', '-o', '%N') ?? '').split('\n').filter(Boolean)
  const isQueueEmpty = (): boolean => cell.call('squeue', '-h') === ''

  test('hosts come when jobs wait, stay while they work, and go when they idle', async () => {
    const held = cell.submit('--hold', '--wrap', 'sleep 1')
    const long = submitWaiting('long')
    const short = submitWaiting('short', '-a', '1-5')
    start()
    await until(
      () => `six running tasks:\n${output()}`,
      () => runningOn().length === 6,
      90_000
    )
    const hosts = new Set(runningOn())
    expect(hosts.size).toBe(3)
    expect(cell.network.machines().sort()).toEqual([...hosts].sort())
    endJobs('short')
    await until(
      () => `one host left:\n${output()}`,
      () => cell.network.machines().length === 1
    )
    expect(runningOn()).toEqual(cell.network.machines())
    cell.call('scancel', held)
    endJobs('long')
    await until('the long job to end', isQueueEmpty)
    await until(
      () => `no host left:\n${output()}`,
      () => cell.network.machines().length === 0 && cell.nodes().length === 0
    )
    const completed = [...cell.readEnded().matchAll(/JobId=(\d+) .*JobState=(\w+)/g)]
    const ended = completed.filter(([, id]) => id !== held)
    expect(ended.map(([, , state]) => state)).toEqual(Array.from({ length: 6 }, () => 'COMPLETED'))
    expect(ended.map(([, id]) => id)).toContain(long)
    expect(ended.map(([, id]) => id)).toContain(short)
  }, 240_000)

  test('a host that dies is replaced, and its job runs again', async () => {
    const job = submitWaiting('lost', '--requeue')
    start()
    await until(
      () => `the job to run:\n${output()}`,
      () => runningOn().length === 1
    )
    const [lost] = runningOn()
    cell.network.remove(lost)
    await until(
      () => `it to be given up:\n${output()}`,
      () => output().includes(`${lost}: removed`),
      120_000
    )
    // Slurm lets a requeued job wait for two minutes.
    cell.call('scontrol', 'update', `jobid=${job}`, 'starttime=now')
    await until(
      () => `its job to run again:\n${output()}\n${cell.call('squeue') ?? ''}`,
      () => runningOn().length === 1,
      200_000
    )
    endJobs('lost')
    await until('the job to end', isQueueEmpty)
    expect(cell.readEnded()).toMatch(new RegExp(`JobId=${job} .*JobState=COMPLETED`))
    await until(
      () => `no host left:\n${output()}`,
      () => cell.network.machines().length === 0
    )
  }, 400_000)
})

function writeConfig(cell: SlurmCell): string {
  const { network, folder, programs, environment } = cell
  const library = join(folder, 'machines.sh')
  writeFileSync(library, network.script)
  const hook = (text: string): string => `. ${library}; ${text}`
  const list = 'machines | sed \'s/.*/{"name":"&","id":"&"}/\' | paste -sd, | sed "s/^/[/;s/$/]/"'
  const node = `CPUs=${CPUS} RealMemory=500`
  const config = {
    elastic: {
      lab: {
        source: {
          kind: 'slurm',
          master: network.master,
          env: { PATH: `${programs}:${process.env['PATH'] ?? ''}` }
        },
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
            `${environment}; [ -n "$(ip netns pids "$OC_HOST")" ] || on "$OC_HOST" slurmd -Z -N "$OC_HOST" --conf "${node}"`
          )
        },
        names: { prefix: network.prefix },
        settleMs: 1500,
        retryMs: 1000,
        progressMs: 300,
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
          template: { slots: CPUS, queues: [{ queue: 'all', slots: CPUS }] }
        }
      }
    }
  }
  const path = join(folder, 'config.json')
  writeFileSync(path, JSON.stringify(config))
  return path
}
