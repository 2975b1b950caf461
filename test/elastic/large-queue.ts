/** A scheduler with 10,000 waiting jobs and 1,000 busy hosts, as a folder of commands that print what it would. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const [JOBS, HOSTS] = [10_000, 1000]
export const LARGE_NOW = Date.UTC(2026, 10, 16)

/** One in ten waiting jobs has a request, so that Grid Engine is asked for its reasons, too. */
const REQUESTS_EVERY = 10
const ENVIRONMENT_VARIABLES = 40

const nameOf = (index: number): string => `node${String(index).padStart(4, '0')}`

/** Commands of Grid Engine in the folder; the reasons are a file with 250 jobs, as many as are asked about at once. */
export function writeGridEngine(folder: string): void {
  const reasons = join(folder, 'reasons.txt')
  writeFileSync(reasons, reasonsXml())
  writeCommand(folder, 'qstat', queueXml(), `[ "$1" = -j ] && exec cat ${reasons}`)
  writeCommand(folder, 'qhost', hostXml())
  writeCommand(folder, 'qacct', '')
  writeCommand(folder, 'qconf', 'allocation_rule $pe_slots\n')
}

export function writeSlurm(folder: string): void {
  writeCommand(folder, 'squeue', squeueJson())
  writeCommand(folder, 'sinfo', sinfoJson())
}

function writeCommand(folder: string, name: string, answer: string, first = ''): void {
  writeFileSync(join(folder, `${name}.txt`), answer)
  const script = `#!/bin/sh\n${first}\nexec cat ${folder}/${name}.txt\n`
  writeFileSync(join(folder, name), script, { mode: 0o755 })
}

function queueXml(): string {
  const hosts = Array.from(
    { length: HOSTS },
    (_, index) => `<Queue-List>
<name>all.q@${nameOf(index)}</name><qtype>BIP</qtype><slots_used>8</slots_used><slots_resv>0</slots_resv>
<slots_total>8</slots_total><load_avg>8.0</load_avg><arch>lx-amd64</arch>
<job_list state="running"><JB_job_number>${index + 1}</JB_job_number><JAT_prio>0.5</JAT_prio><JB_name>run</JB_name>
<JB_owner>u</JB_owner><state>r</state><JAT_start_time>2026-11-15T20:00:00</JAT_start_time><slots>8</slots>
<full_job_name>run</full_job_name><requested_pe name="smp">8</requested_pe></job_list>
</Queue-List>`
  )
  const jobs = Array.from({ length: JOBS }, (_, index) => {
    const request =
      index % REQUESTS_EVERY === 0 ? '<hard_request name="mem_free">1G</hard_request>' : ''
    return `<job_list state="pending"><JB_job_number>${index + 5000}</JB_job_number>
<JAT_prio>0.25</JAT_prio><JB_name>j${index % 50}</JB_name><JB_owner>user${index % 20}</JB_owner><state>qw</state>
<JB_submission_time>2026-11-15T23:${String(index % 60).padStart(2, '0')}:00</JB_submission_time>
<slots>${1 + (index % 8)}</slots><full_job_name>j${index % 50}</full_job_name>
<requested_pe name="smp">${1 + (index % 8)}</requested_pe>${request}<binding>NONE</binding></job_list>`
  })
  return `<?xml version='1.0'?><job_info><queue_info>${hosts.join('\n')}</queue_info><job_info>${jobs.join('\n')}</job_info></job_info>`
}

/** About 4 kB a job, most of it the environment, as the real one prints. */
function reasonsXml(): string {
  const variables = Array.from(
    { length: ENVIRONMENT_VARIABLES },
    (_, index) =>
      `<job_sublist><VA_variable>VARIABLE_${index}</VA_variable><VA_value>${'v'.repeat(30)}</VA_value></job_sublist>`
  ).join('\n')
  const jobs = Array.from(
    { length: 250 },
    (_, index) =>
      `<element><JB_job_number>${5000 + index * REQUESTS_EVERY}</JB_job_number><JB_env_list>${variables}</JB_env_list></element>`
  )
  return `<?xml version='1.0'?><detailed_job_info><djob_info>${jobs.join('\n')}</djob_info><messages/></detailed_job_info>`
}

function hostXml(): string {
  const names = ['num_proc', 'm_socket', 'm_core', 'm_thread', 'load_avg', 'swap_total']
  const values = [...names, 'swap_used']
    .map((name) => `<hostvalue name='${name}'>8</hostvalue>`)
    .join('')
  const hosts = Array.from(
    { length: HOSTS },
    (_, index) =>
      `<host name='${nameOf(index)}'><hostvalue name='arch_string'>lx-amd64</hostvalue>${values}<hostvalue name='mem_total'>31.3G</hostvalue></host>`
  )
  return `<?xml version='1.0'?><qhost>${hosts.join('\n')}</qhost>`
}

/** A real job of Slurm's, 2.5 kB, over and over. */
function squeueJson(): string {
  const { jobs } = readSample('squeue') as { jobs: Record<string, unknown>[] }
  const model = jobs.find(({ job_state: state }) => state === 'RUNNING')
  const seconds = LARGE_NOW / 1000
  const [submitted, started] = [seconds - 10_000, seconds - 9000]
  const common = { ...model, partition: 'all', submit_time: submitted, eligible_time: submitted }
  const running = Array.from({ length: HOSTS }, (_, index) => ({
    ...{ ...common, job_id: index + 1, cpus: 8, start_time: started },
    ...{ nodes: nameOf(index), job_resources: null }
  }))
  const waiting = Array.from({ length: JOBS }, (_, index) => ({
    ...{ ...common, job_id: index + 5000, name: `j${index % 50}`, job_state: 'PENDING' },
    ...{ cpus: 1 + (index % 8), tasks: 1, nodes: '', job_resources: null },
    ...{ state_reason: 'Resources', start_time: 0 }
  }))
  return JSON.stringify({ meta: {}, errors: [], jobs: [...running, ...waiting] })
}

function sinfoJson(): string {
  const { nodes } = readSample('sinfo') as { nodes: Record<string, unknown>[] }
  const busy = { cpus: 8, alloc_cpus: 8, idle_cpus: 0, last_busy: LARGE_NOW / 1000 - 9000 }
  const many = Array.from({ length: HOSTS }, (_, index) => ({
    ...nodes[0],
    ...busy,
    name: nameOf(index)
  }))
  return JSON.stringify({ meta: {}, errors: [], nodes: many })
}

function readSample(name: string): unknown {
  const path = new URL(`fixtures/slurm/04-cloud-running/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8'))
}
