/**
 * A real Slurm for the tests: slurmctld in the master's namespace, its nodes dynamic (`slurmd -Z`), each in a namespace
 * of its own and started by whoever is tested. A munged of its own with a key of its own.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeMachines, SHORT_CLOCKS, SHORT_POLICY, type Cell } from './lab.js'
import { isPrepared, Network, run, tryRun, until } from './namespaces.js'

const PROGRAMS = ['squeue', 'sinfo', 'scontrol', 'sbatch', 'scancel']

const CPUS = 2

export function canRunSlurm(): boolean {
  return isPrepared('slurm')
}

/** The settings of a balancer for a cell. */
export function describeSlurm(cell: SlurmCell): object {
  const { network, programs, environment } = cell
  const node = `CPUs=${CPUS} RealMemory=500`
  // A new machine knows nothing of the jobs of a former one by its name.
  const clean = `rm -rf "${cell.folder}/spool/$OC_HOST"`
  const slurmd = `${clean}; on "$OC_HOST" slurmd -Z -N "$OC_HOST" --conf "${node}"`
  return {
    ...SHORT_CLOCKS,
    ...describeMachines(cell, `${environment}; ${slurmd}`),
    source: {
      kind: 'slurm',
      master: network.master,
      env: { PATH: `${programs}:${process.env['PATH'] ?? ''}` }
    },
    policy: {
      ...SHORT_POLICY,
      template: { slots: CPUS, queues: [{ queue: 'all', slots: CPUS }] }
    }
  }
}

export class SlurmCell implements Cell {
  readonly network = new Network('s')
  readonly folder = mkdtempSync(join(tmpdir(), 'opencluster-slurm-'))
  readonly programs = join(this.folder, 'programs')
  readonly environment = `export SLURM_CONF=${this.folder}/slurm.conf`

  constructor() {
    const { folder, network, programs } = this
    chmodSync(folder, 0o755)
    for (const name of ['programs', 'state', 'spool', 'log', 'run', 'munge']) {
      mkdirSync(join(folder, name))
    }
    network.writePrograms(programs, this.environment, PROGRAMS)
    // ip netns exec hides the control groups of the machine; none are used.
    writeFileSync(join(folder, 'cgroup.conf'), 'CgroupPlugin=cgroup/v1\n')
    writeFileSync(join(folder, 'slurm.conf'), this.#configuration())
  }

  async start(): Promise<void> {
    const { folder, network } = this
    const munge = join(folder, 'munge')
    writeFileSync(join(munge, 'key'), randomBytes(1024), { mode: 0o400 })
    chmodSync(munge, 0o700)
    run(['chown', '-R', 'munge:munge', munge, join(folder, 'run')])
    const files = ['key', 'pid', 'log', 'seed'].map((name) => `--${name}-file=${munge}/${name}`)
    const asMunge = ['setpriv', '--reuid=munge', '--regid=munge', '--init-groups', 'munged']
    // In the master's namespace, so that it ends with it.
    network.on(network.master, [
      ...asMunge,
      '--force',
      `--socket=${folder}/run/munge.sock`,
      ...files
    ])
    network.on(network.master, ['sh', '-c', `${this.environment}; slurmctld`])
    await until('slurmctld', () => this.call('scontrol', 'ping')?.includes('UP') === true)
  }

  call(program: string, ...words: string[]): string | undefined {
    return tryRun([join(this.programs, program), ...words])
  }

  submit(...words: string[]): string {
    return run([join(this.programs, 'sbatch'), '--parsable', '-o', '/dev/null', ...words]).trim()
  }

  runningOn(): string[] {
    return (this.call('squeue', '-h', '-t', 'R', '-o', '%N') ?? '').split('\n').filter(Boolean)
  }

  isQueueEmpty(): boolean {
    return this.call('squeue', '-h') === ''
  }

  nodes(): string[] {
    return (this.call('sinfo', '-h', '-N', '-o', '%N') ?? '').split('\n').filter(Boolean)
  }

  /** What slurmctld wrote about jobs that ended: `JobId=… JobState=COMPLETED …`. */
  readEnded(): string {
    const path = join(this.folder, 'log', 'jobcomp.txt')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  async end(): Promise<void> {
    await this.network.end()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #configuration(): string {
    const { folder, network } = this
    const lines = {
      ClusterName: 't',
      SlurmctldHost: `${network.master}(10.99.0.1)`,
      SlurmUser: 'root',
      SlurmdUser: 'root',
      AuthType: 'auth/munge',
      AuthInfo: `socket=${folder}/run/munge.sock`,
      StateSaveLocation: `${folder}/state`,
      SlurmdSpoolDir: `${folder}/spool/%n`,
      SlurmctldPidFile: `${folder}/run/slurmctld.pid`,
      SlurmdPidFile: `${folder}/run/slurmd-%n.pid`,
      SlurmctldLogFile: `${folder}/log/slurmctld.log`,
      SlurmdLogFile: `${folder}/log/slurmd-%n.log`,
      ProctrackType: 'proctrack/linuxproc',
      TaskPlugin: 'task/none',
      JobAcctGatherType: 'jobacct_gather/none',
      AccountingStorageType: 'accounting_storage/none',
      JobCompType: 'jobcomp/filetxt',
      JobCompLoc: `${folder}/log/jobcomp.txt`,
      SelectType: 'select/cons_tres',
      SelectTypeParameters: 'CR_CPU',
      SchedulerParameters: 'bf_interval=2,sched_interval=2,sched_min_interval=500000',
      MpiDefault: 'none',
      ReturnToService: '2',
      SlurmdTimeout: '6',
      SlurmdParameters: 'config_overrides',
      MailProg: '/bin/true',
      TreeWidth: '65533',
      MaxNodeCount: '64'
    }
    return [
      ...Object.entries(lines).map(([name, value]) => `${name}=${value}`),
      'PartitionName=all Nodes=ALL Default=YES State=UP',
      ''
    ].join('\n')
  }
}
