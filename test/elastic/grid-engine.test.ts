// The load balancer on a real Grid Engine: hosts in namespaces, registered, used, drained and removed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAccounting } from '../../src/elastic/sources/grid-engine-accounting.js'
import { canRunGridEngine, describeGridEngine, GridEngineCell } from './grid-engine-cell.js'
import { useLab } from './lab.js'

describe.skipIf(!canRunGridEngine())('on a real Grid Engine', () => {
  const use = useLab(() => new GridEngineCell())

  test('hosts come when jobs wait, stay while they work, and go when they idle', async () => {
    const lab = use()
    const { cell } = lab
    // These wait for ever and are no reason for a host.
    const hopeless = [
      cell.submit('-b', 'y', '-l', 'arch=lx-arm', 'sleep', '1'),
      cell.submit('-b', 'y', '-h', 'sleep', '1'),
      cell.submit('-b', 'y', '-pe', 'smp', '64', 'sleep', '1')
    ]
    const long = lab.submitWaiting('long')
    const short = lab.submitWaiting('short', '-t', '1-5')
    lab.start(describeGridEngine(cell))
    const hosts = [...new Set(await lab.untilRunning(6))].sort()
    expect(hosts).toHaveLength(3)
    expect(cell.executionHosts().sort()).toEqual(hosts)
    expect(cell.network.machines().sort()).toEqual(hosts)
    for (const host of hosts) expect(cell.network.readHosts(cell.network.master)).toContain(host)

    lab.letEnd('short')
    // Two become idle and go; the one with the long job stays until it ends.
    await lab.untilMachines(1)
    expect(cell.runningOn()).toEqual(cell.network.machines())
    cell.call('qdel', ...hopeless)
    await lab.endJobs('long')
    await lab.untilMachines(0)
    await lab.until('the registration to be gone', () => cell.executionHosts().length === 0)

    const accounting = cell.call('qacct', '-j') ?? ''
    const finished = parseAccounting(accounting).map(({ id }) => id.split('.')[0])
    expect(finished.sort()).toEqual([long, short, short, short, short, short].sort())
    expect(accounting).not.toMatch(/^failed +[1-9]/m)
    expect(accounting).not.toMatch(/^exit_status +[1-9]/m)
    expect(lab.output).toContain('waits in vain')
  }, 600_000)

  test('nothing is changed when the scheduler does not answer', async () => {
    const lab = use()
    const { cell } = lab
    const broken = join(cell.folder, 'broken')
    mkdirSync(broken)
    const half = '#!/bin/sh\necho "<?xml version=\'1.0\'?><job_info><queue_info>"\n'
    writeFileSync(join(broken, 'qstat'), half, { mode: 0o755 })
    lab.submitWaiting('half')
    lab.start(describeGridEngine(cell, `${broken}:`), { state: 'state2' })
    await lab.untilSaid('not whole XML')
    expect(cell.network.machines()).toEqual([])
    await lab.kill()
    lab.start(describeGridEngine(cell))
    await lab.untilRunning(1)
    await lab.endJobs('half')
    await lab.untilMachines(0)
  }, 600_000)
})
