// A pool of machines over real ssh, for a Grid Engine that is itself asked and told over ssh.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { canRunGridEngine, describeQueue, GridEngineCell } from './grid-engine-cell.js'
import { SHORT_CLOCKS, SHORT_POLICY, useLab } from './lab.js'
import { isPrepared, run } from './namespaces.js'
import { SshMachines } from './ssh-machines.js'

interface PoolMachine {
  readonly name: string
  readonly address: string
}

describe.skipIf(!canRunGridEngine() || !isPrepared('ssh'))('a pool over ssh', () => {
  const use = useLab(() => new GridEngineCell())
  const pool: PoolMachine[] = []
  let ssh: SshMachines

  beforeAll(async () => {
    const { network, folder } = use().cell
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

  const look = ({ address }: PoolMachine): string =>
    ssh.call(address, 'ls /mnt; cat /mnt/claim/owner 2>/dev/null; true')

  test('claims, prepares, uses and releases; leaves alone what another cluster has', async () => {
    const lab = use()
    const { cell } = lab
    const [foreign, ...others] = pool
    const claim = 'mkdir /mnt/claim; echo other/x > /mnt/claim/owner; date +%s > /mnt/claim/since'
    ssh.call(foreign.address, claim)
    lab.submitWaiting('pool', '-t', '1-4')
    lab.start(describePool(cell, ssh, pool), {
      enter: ['ip', 'netns', 'exec', cell.network.master]
    })
    const hosts = await lab.untilRunning(4)
    expect(new Set(hosts)).toEqual(new Set(others.map(({ name }) => name)))
    expect(lab.output).toContain(`${foreign.name} is claimed by other/x`)
    for (const one of others) expect(look(one)).toBe(`claim\nprepared\nlab/${one.name}\n`)

    await lab.endJobs('pool')
    await lab.until('both to be released', () => others.every((one) => look(one) === ''))
    expect(cell.executionHosts()).toEqual([])
    expect(look(foreign)).toContain('other/x')
  }, 600_000)
})

function describePool(
  cell: GridEngineCell,
  ssh: SshMachines,
  pool: readonly PoolMachine[]
): object {
  const login = { identityFile: ssh.identityFile, options: ssh.options }
  const words = Object.entries(cell.variables).map(([name, value]) => `${name}=${value}`)
  const execd = `env ${words.join(' ')} /usr/lib/gridengine/sge_execd`
  return {
    ...SHORT_CLOCKS,
    ...describeQueue({
      ...SHORT_POLICY,
      capacityBackOff: { firstMs: 500, mostMs: 500 }
    }),
    source: {
      kind: 'sge',
      ssh: { target: 'root@10.99.0.1', ...login },
      env: cell.variables,
      accountingEveryMs: 1000
    },
    provider: {
      kind: 'ssh',
      claimFolder: '/mnt/claim',
      pool: pool.map(({ name, address }) => {
        return { name, address, target: `root@${address}`, ...login }
      }),
      prepare: 'touch /mnt/prepared',
      release: 'rm -f /mnt/prepared',
      timeoutMs: 30_000
    },
    // A second one cannot have the port and says so.
    steps: { daemon: { on: 'host', run: `${execd} || true` } }
  }
}
