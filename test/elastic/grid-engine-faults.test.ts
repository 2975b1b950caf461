// A balancer that is killed and hosts that die, on a real Grid Engine: what was begun is finished, what was lost is replaced.
import { describe, expect, test } from 'vitest'
import { parseAccounting } from '../../src/elastic/sources/grid-engine-accounting.js'
import { canRunGridEngine, describeGridEngine, GridEngineCell } from './grid-engine-cell.js'
import { useLab } from './lab.js'

describe.skipIf(!canRunGridEngine())('on a real Grid Engine', () => {
  const use = useLab(() => new GridEngineCell())

  test('one that is killed at any step is followed by one that goes on', async () => {
    const lab = use()
    const { cell } = lab
    const { network } = cell
    const settings = describeGridEngine(cell)
    const job = lab.submitWaiting('killed', '-t', '1-4')
    for (const step of ['launch 1/9', 'hosts 3/9', 'register 7/9', 'daemon 8/9']) {
      lab.start(settings)
      const isThere = (): boolean => /added/.test(lab.output) || lab.output.includes(`${step} done`)
      await lab.until(step, isThere)
      await lab.kill()
    }
    lab.start(settings)
    await lab.untilRunning(4)
    expect(network.machines()).toHaveLength(2)
    await lab.endJobs('killed')
    for (const step of ['drain 1/6', 'deregister 3/6']) {
      await lab.untilSaid(`${step} done`)
      await lab.kill()
      lab.start(settings)
    }
    await lab.untilMachines(0)
    await lab.until('the registration to be gone', () => cell.executionHosts().length === 0)
    const ids = parseAccounting(cell.call('qacct', '-j', job) ?? '').map(({ id }) => id)
    expect(ids.sort()).toEqual([1, 2, 3, 4].map((task) => `${job}.${task}`))
    expect(network.readHosts(network.master)).not.toContain(network.prefix)
  }, 600_000)

  test('a host that dies is replaced, and its job runs again', async () => {
    const lab = use()
    const { cell } = lab
    const job = lab.submitWaiting('lost', '-r', 'y')
    lab.start(describeGridEngine(cell))
    const [lost] = await lab.untilRunning(1)
    cell.network.remove(lost)
    await lab.untilSaid(`${lost}: removed`)
    await lab.untilRunning(1)
    await lab.endJobs('lost')
    await lab.untilMachines(0)
    expect(cell.call('qacct', '-j', job)).toMatch(/^exit_status +0/m)
  }, 600_000)
})
