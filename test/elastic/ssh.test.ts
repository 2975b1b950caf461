// A pool of machines over real ssh, for a Grid Engine that is itself asked and told over ssh.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BalancerProcess } from './balancer-process.js'
import { GridEngineCell, prepareGridEngine } from './grid-engine-cell.js'
import { prepareMachine, run, until } from './namespaces.js'
import { SSH_PACKAGES, SSH_PROGRAMS, SshMachines } from './ssh-machines.js'

const SLOTS = 2
const canRun = prepareGridEngine() && prepareMachine(SSH_PROGRAMS, SSH_PACKAGES)

describe.skipIf(!canRun)('a pool over ssh', () => {
  let cell: GridEngineCell
  let ssh: SshMachines
  let balancer: BalancerProcess | undefined
  const pool: { name: string; address: string }[] = []

  beforeAll(async () => {
    cell = new GridEngineCell()
    await cell.start()
    const { network, folder } = cell
    ssh = new SshMachines(network, folder)
    const library = join(folder, 'machines.sh')
    writeFileSync(library, network.script)
    for (const number of [1, 2, 3]) {
      const name = `${network.prefix}00${number}`
      run(['sh', '-c', `. ${library}; machine_up ${name}; hosts_add ${name}`])
      pool.push({ name, address: `10.99.0.${10 + number}` })
    }
    await ssh.start(network.master, '10.99.0.1')
    for (const { name, address } of pool) await ssh.start(name, address)
  }, 120_000)

  afterEach(async () => {
    await balancer?.kill()
  })

  afterAll(async () => {
    await cell.end()
  }, 120_000)

  const output = (): string => balancer?.output ?? ''
  const look = (address: string): string =>
    ssh.call(address, 'ls /mnt; cat /mnt/claim/owner 2>/dev/null; true')
  const runningOn = (): string[] =>
    [...(cell.call('qstat', '-u', '*', '-s', 'r') ?? '').matchAll(/ all\.q@(\S+)/g)].map(
      (m) => m[1]
    )

  test('claims, prepares, uses and releases; leaves alone what another cluster has', async () => {
    const [foreign, first, second] = pool
    ssh.call(
      foreign.address,
      'mkdir /mnt/claim; echo other/x > /mnt/claim/owner; date +%s > /mnt/claim/since'
    )
    const script = join(cell.folder, 'wait.sh')
    writeFileSync(script, '#!/bin/sh\nuntil [ -e "$1" ]; do sleep 0.2; done\n', { mode: 0o755 })
    cell.submit('-t', '1-4', script, join(cell.folder, 'end'))

    const args = [
      'lab',
      '--config',
      writeConfig(cell, ssh, pool),
      '--state-dir',
      join(cell.folder, 'state')
    ]
    balancer = new BalancerProcess(args, ['ip', 'netns', 'exec', cell.network.master])
    await until(
      () => `four running tasks:\n${output()}`,
      () => runningOn().length === 4,
      90_000
    )
    expect(new Set(runningOn())).toEqual(new Set([first.name, second.name]))
    expect(output()).toContain(`${foreign.name} is claimed by other/x`)
    for (const { name, address } of [first, second]) {
      expect(look(address)).toBe(`claim\nprepared\nlab/${name}\n`)
    }

    writeFileSync(join(cell.folder, 'end'), '')
    await until(
      () => `both to be released:\n${output()}`,
      () => [first, second].every(({ address }) => look(address) === ''),
      90_000
    )
    expect(cell.executionHosts()).toEqual([])
    expect(look(foreign.address)).toContain('other/x')
  }, 240_000)
})

function writeConfig(
  cell: GridEngineCell,
  ssh: SshMachines,
  pool: readonly { name: string; address: string }[]
): string {
  const login = { identityFile: ssh.identityFile, options: ssh.options }
  const root = `${cell.folder}/root`
  const env = {
    SGE_ROOT: root,
    SGE_CELL: 'default',
    SGE_QMASTER_PORT: '6444',
    SGE_EXECD_PORT: '6445'
  }
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const execd = `env ${words.join(' ')} /usr/lib/gridengine/sge_execd`
  const config = {
    elastic: {
      lab: {
        source: {
          kind: 'sge',
          ssh: { target: 'root@10.99.0.1', ...login },
          env: { ...env, SGE_ARCH: 'lx-amd64' },
          accountingEveryMs: 1000
        },
        scheduler: { slots: SLOTS },
        provider: {
          kind: 'ssh',
          claimFolder: '/mnt/claim',
          pool: pool.map(({ name, address }) => ({
            name,
            address,
            target: `root@${address}`,
            ...login
          })),
          prepare: 'touch /mnt/prepared',
          release: 'rm -f /mnt/prepared',
          timeoutMs: 30_000
        },
        steps: {
          // A second one cannot have the port and says so.
          daemon: { on: 'host', run: `${execd} || true` }
        },
        settleMs: 1500,
        retryMs: 1000,
        progressMs: 300,
        policy: {
          intervalMs: 1000,
          hostsMax: 4,
          addPerPass: 2,
          jobWaitMs: 1000,
          billing: { kind: 'second', idleMs: 3000 },
          cooldownDownMs: 1000,
          capacityBackOff: { firstMs: 500, mostMs: 500 },
          forecast: false,
          template: { slots: SLOTS, queues: [{ queue: 'all.q', slots: SLOTS }] }
        }
      }
    }
  }
  const path = join(cell.folder, 'config.json')
  writeFileSync(path, JSON.stringify(config))
  return path
}
