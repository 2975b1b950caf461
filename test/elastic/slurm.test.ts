// The load balancer on a real Slurm with dynamic nodes: started, used, drained, deleted, lost and replaced.
import { describe, expect, test } from 'vitest'
import { useLab } from './lab.js'
import { canRunSlurm, describeSlurm, SlurmCell } from './slurm-cell.js'

describe.skipIf(!canRunSlurm())('on a real Slurm', () => {
  const use = useLab(() => new SlurmCell())

  test('hosts come when jobs wait, stay while they work, and go when they idle', async () => {
    const lab = use()
    const { cell } = lab
    const held = cell.submit('--hold', '--wrap', 'sleep 1')
    const long = lab.submitWaiting('long')
    const short = lab.submitWaiting('short', '-a', '1-5')
    lab.start(describeSlurm(cell))
    const hosts = [...new Set(await lab.untilRunning(6))].sort()
    expect(hosts).toHaveLength(3)
    expect(cell.network.machines().sort()).toEqual(hosts)
    lab.letEnd('short')
    await lab.untilMachines(1)
    expect(cell.runningOn()).toEqual(cell.network.machines())
    cell.call('scancel', held)
    await lab.endJobs('long')
    await lab.untilMachines(0)
    await lab.until('no node left', () => cell.nodes().length === 0)
    const completed = [...cell.readEnded().matchAll(/JobId=(\d+) .*JobState=(\w+)/g)]
    const ended = completed.filter(([, id]) => id !== held)
    expect(ended.map(([, , state]) => state)).toEqual(Array.from({ length: 6 }, () => 'COMPLETED'))
    expect(ended.map(([, id]) => id)).toEqual(expect.arrayContaining([long, short]))
  }, 600_000)

  test('a host that dies is replaced, and its job runs again', async () => {
    const lab = use()
    const { cell } = lab
    const job = lab.submitWaiting('lost', '--requeue')
    lab.start(describeSlurm(cell))
    const [lost] = await lab.untilRunning(1)
    cell.network.remove(lost)
    await lab.untilSaid(`${lost}: removed`)
    // Slurm lets a requeued job wait for two minutes.
    cell.call('scontrol', 'update', `jobid=${job}`, 'starttime=now')
    // Slurm now and then fails a requeued job at once where a host of the same name is back within seconds: it ran there.
    const again = new RegExp(`JobId=${job} .*JobState=(COMPLETED|FAILED)`)
    const isBack = (): boolean => cell.runningOn().length > 0 || again.test(cell.readEnded())
    await lab.until('it to run again', isBack)
    await lab.endJobs('lost')
    expect(cell.readEnded()).toMatch(again)
    // And what comes next runs to its end.
    const next = lab.submitWaiting('next')
    await lab.untilRunning(1)
    await lab.endJobs('next')
    expect(cell.readEnded()).toMatch(new RegExp(`JobId=${next} .*JobState=COMPLETED`))
    await lab.untilMachines(0)
  }, 600_000)
})
