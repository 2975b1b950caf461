/**
 * A real Grid Engine for the tests: a private cell of Debian's packages in a folder of its own, its qmaster in the
 * master's namespace, its clocks shortened. Execution hosts are added by whoever is tested.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeMachines, SHORT_CLOCKS, SHORT_POLICY, type Cell } from './lab.js'
import { isPrepared, Network, run, tryRun, until } from './namespaces.js'

const LIBRARY = '/usr/lib/gridengine'
const SHARE = '/usr/share/gridengine'
const PROGRAMS = ['qstat', 'qhost', 'qconf', 'qmod', 'qacct', 'qdel', 'qsub']

const SLOTS = 2

export function canRunGridEngine(): boolean {
  return isPrepared('gridEngine')
}

/** The queue that new hosts join, and the rules. */
export function describeQueue(policy: object): object {
  const template = {
    slots: SLOTS,
    queues: [{ queue: 'all.q', slots: SLOTS }],
    resources: { arch: 'lx-amd64' }
  }
  return { scheduler: { slots: SLOTS }, policy: { ...policy, template } }
}

/** The settings of a balancer for a cell; `path` are folders whose programs come before the cell's. */
export function describeGridEngine(cell: GridEngineCell, path = ''): object {
  const { programs, environment } = cell
  const execd = `on "$OC_HOST" ${LIBRARY}/sge_execd`
  return {
    ...SHORT_CLOCKS,
    ...describeQueue(SHORT_POLICY),
    ...describeMachines(cell, `${environment}; ${execd}`),
    source: {
      kind: 'sge',
      env: { PATH: `${path}${programs}:${process.env['PATH'] ?? ''}` },
      accountingEveryMs: 1000
    }
  }
}

export class GridEngineCell implements Cell {
  readonly network = new Network('g')
  readonly folder = mkdtempSync(join(tmpdir(), 'opencluster-sge-'))
  readonly programs = join(this.folder, 'programs')
  readonly variables = {
    SGE_ROOT: `${this.folder}/root`,
    SGE_CELL: 'default',
    SGE_QMASTER_PORT: '6444',
    SGE_EXECD_PORT: '6445',
    SGE_ARCH: 'lx-amd64'
  } as const
  /** The same for a shell. */
  readonly environment: string

  constructor() {
    const { folder, programs, variables } = this
    // Grid Engine's own user must come through.
    chmodSync(folder, 0o755)
    mkdirSync(programs)
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    this.environment = `export ${assignments.join(' ')}`
    this.network.writePrograms(programs, this.environment, PROGRAMS)
  }

  async start(): Promise<void> {
    this.#initialise()
    this.onMaster(`${LIBRARY}/sge_qmaster`)
    await until('the qmaster', () => this.call('qconf', '-sh') !== undefined)
    this.#configure()
  }

  /** A command of Grid Engine; undefined when it fails. */
  call(program: string, ...words: string[]): string | undefined {
    return tryRun([join(this.programs, program), ...words])
  }

  /** The job's number. While there is no host yet, qsub warns and fails, and the job is in the queue all the same. */
  submit(...words: string[]): string {
    const argv = [join(this.programs, 'qsub'), '-o', '/dev/null', '-j', 'y', ...words]
    const { stdout, stderr } = spawnSync(argv[0], argv.slice(1), { encoding: 'utf8' })
    const id = /Your job(?:-array)? (\d+)/.exec(stdout + stderr)?.[1]
    if (id === undefined) throw new Error(`${argv.join(' ')}: ${stdout}${stderr}`)
    return id
  }

  onMaster(script: string, input = ''): string {
    return this.network.on(
      this.network.master,
      ['sh', '-c', `${this.environment}\n${script}`],
      input
    )
  }

  executionHosts(): string[] {
    return (this.call('qconf', '-sel') ?? '').split('\n').filter(Boolean)
  }

  runningOn(): string[] {
    const listed = this.call('qstat', '-u', '*', '-s', 'r') ?? ''
    return [...listed.matchAll(/ all\.q@(\S+)/g)].map(([, host]) => host)
  }

  isQueueEmpty(): boolean {
    return this.call('qstat', '-u', '*') === ''
  }

  async end(): Promise<void> {
    await this.network.end()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #initialise(): void {
    const { folder } = this
    const common = `${folder}/root/default/common`
    for (const path of [
      common,
      ...['qmaster/job_scripts', 'spooldb', 'execd'].map((p) => `${folder}/spool/${p}`)
    ]) {
      mkdirSync(path, { recursive: true })
    }
    for (const link of ['bin', 'lib', 'utilbin']) {
      symlinkSync(`/var/lib/gridengine/${link}`, `${folder}/root/${link}`)
    }
    symlinkSync(`${SHARE}/util`, `${folder}/root/util`)
    const bootstrap = {
      admin_user: 'sgeadmin',
      default_domain: 'none',
      ignore_fqdn: 'false',
      spooling_method: 'berkeleydb',
      spooling_lib: 'libspoolb',
      spooling_params: `${folder}/spool/spooldb`,
      binary_path: '/usr/sbin',
      qmaster_spool_dir: `${folder}/spool/qmaster`,
      security_mode: 'none',
      listener_threads: '2',
      worker_threads: '2',
      scheduler_threads: '1'
    }
    writeFileSync(`${common}/bootstrap`, formatLines(bootstrap))
    writeFileSync(`${common}/act_qmaster`, `${this.network.master}\n`)
    writeFileSync(`${folder}/conf.global`, this.#globalConfiguration())
    run(['chown', '-R', 'sgeadmin:sgeadmin', folder])
    const asAdmin = ['setpriv', '--reuid=sgeadmin', '--regid=sgeadmin', '--init-groups', 'env']
    const env = [`SGE_ROOT=${folder}/root`, 'SGE_CELL=default']
    const prepare = (...words: string[]): string =>
      this.network.on(this.network.master, [...asAdmin, ...env, ...words])
    prepare(`${LIBRARY}/spoolinit`, 'berkeleydb', 'libspoolb', `${folder}/spool/spooldb`, 'init')
    const defaults = `${LIBRARY}/spooldefaults`
    prepare(defaults, 'configuration', `${folder}/conf.global`)
    prepare(defaults, 'complexes', `${SHARE}/util/resources/centry`)
    prepare(defaults, 'usersets', `${SHARE}/util/resources/usersets`)
    prepare(defaults, 'managers', 'root')
    // The scheduler itself goes by this name.
    prepare(defaults, 'managers', 'sgeadmin')
  }

  #globalConfiguration(): string {
    const changes: Readonly<Record<string, string>> = {
      execd_spool_dir: `${this.folder}/spool/execd`,
      min_uid: '0',
      min_gid: '0',
      load_report_time: '00:00:01',
      max_unheard: '00:00:06',
      reschedule_unknown: '00:00:02',
      mailer: '/bin/true'
    }
    return readFileSync(`${SHARE}/default-configuration`, 'utf8')
      .split('\n')
      .map((line) => {
        const name = line.split(/\s+/)[0]
        return Object.hasOwn(changes, name) ? `${name} ${changes[name]}` : line
      })
      .join('\n')
      .replace('flush_time=00:00:15', 'flush_time=00:00:01 accounting_flush_time=00:00:00')
  }

  #configure(): void {
    const file = (option: string, text: string): string =>
      this.onMaster(`f=$(mktemp); cat > $f; qconf ${option} $f; r=$?; rm -f $f; exit $r`, text)
    this.onMaster(`qconf -as ${this.network.master}`)
    file('-Ahgrp', 'group_name @allhosts\nhostlist NONE\n')
    for (const environment of ['make', 'smp', 'mpi']) {
      this.onMaster(`qconf -Ap ${SHARE}/util/resources/pe/${environment}`)
    }
    file('-Aq', formatLines(QUEUE))
    const fast = {
      schedule_interval: '0:0:1',
      flush_submit_sec: '1',
      flush_finish_sec: '1',
      job_load_adjustments: 'NONE',
      load_adjustment_decay_time: '0:0:0'
    }
    const scheduler = this.onMaster('qconf -ssconf')
      .split('\n')
      .map((line) => {
        const name = line.split(/\s+/)[0] as keyof typeof fast
        return Object.hasOwn(fast, name) ? `${name} ${fast[name]}` : line
      })
    file('-Msconf', scheduler.join('\n'))
  }
}

function formatLines(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('')
}

const limits = ['rt', 'cpu', 'fsize', 'data', 'stack', 'core', 'rss', 'vmem']
const QUEUE: Readonly<Record<string, string>> = {
  qname: 'all.q',
  hostlist: '@allhosts',
  seq_no: '0',
  // A busy test machine must not close every queue.
  load_thresholds: 'NONE',
  suspend_thresholds: 'NONE',
  nsuspend: '1',
  suspend_interval: '00:05:00',
  priority: '0',
  min_cpu_interval: '00:05:00',
  processors: 'UNDEFINED',
  qtype: 'BATCH INTERACTIVE',
  ckpt_list: 'NONE',
  pe_list: 'make smp mpi',
  rerun: 'FALSE',
  slots: '1',
  tmpdir: '/tmp',
  shell: '/bin/sh',
  prolog: 'NONE',
  epilog: 'NONE',
  shell_start_mode: 'posix_compliant',
  starter_method: 'NONE',
  suspend_method: 'NONE',
  resume_method: 'NONE',
  terminate_method: 'NONE',
  notify: '00:00:60',
  owner_list: 'NONE',
  user_lists: 'NONE',
  xuser_lists: 'NONE',
  subordinate_list: 'NONE',
  complex_values: 'NONE',
  projects: 'NONE',
  xprojects: 'NONE',
  calendar: 'NONE',
  initial_state: 'default',
  ...Object.fromEntries(
    limits.flatMap((name) => [`s_${name}`, `h_${name}`].map((key) => [key, 'INFINITY']))
  )
}
