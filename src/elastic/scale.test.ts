// One pass over 10,000 waiting jobs and 1,000 hosts of Grid Engine costs less than a second of CPU.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_CONFIG } from '../core/scaling/config.js'
import { decide } from '../core/scaling/decide.js'
import { createHistory } from '../core/scaling/history.js'
import { composeFacts } from './compose-facts.js'
import { createLocalPlace } from './place.js'
import { GridEngineSource } from './sources/grid-engine.js'
import { createState } from './state-file.js'

const [JOBS, HOSTS] = [10_000, 1000]
const CPU_SECONDS_MAX = 1
const PASSES = 5

test('a large cluster', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'opencluster-scale-'))
  try {
    const write = (name: string, text: string): void => {
      writeFileSync(join(folder, `${name}.txt`), text)
      const script = `#!/bin/sh\nexec cat ${folder}/${name}.txt\n`
      writeFileSync(join(folder, name), script, { mode: 0o755 })
    }
    write('qstat', queueXml())
    write('qhost', hostXml())
    write('qacct', '')
    write('qconf', 'allocation_rule $pe_slots\n')
    const source = new GridEngineSource({
      place: createLocalPlace({ PATH: `${folder}:${process.env['PATH'] ?? ''}` }),
      master: 'master',
      timeoutMs: 30_000,
      accountingEveryMs: 0,
      isRemote: false
    })
    const now = Date.UTC(2026, 10, 16)
    const config = { ...DEFAULT_CONFIG, hostsMax: 2000, addPerPass: 100 }
    // The best of a few: the balancer runs for days, and a machine may be busy with other things.
    let seconds = Infinity
    for (let pass = 0; pass < PASSES; pass++) {
      const before = process.cpuUsage()
      const { facts } = await source.read({ now, lookbackMs: 3_600_000 })
      const state = createState(now)
      const composed = composeFacts({ source: facts, machines: undefined, state, pricePerHour: 1 })
      const decision = decide(composed, config, createHistory(now), now)
      const { user, system } = process.cpuUsage(before)
      seconds = Math.min(seconds, (user + system) / 1e6)
      expect(facts.hosts).toHaveLength(HOSTS + 1)
      expect(facts.jobs).toHaveLength(JOBS + HOSTS)
      expect(decision.actions).toMatchObject([{ kind: 'add', count: 100 }])
    }
    process.stdout.write(`${JOBS} jobs, ${HOSTS} hosts: ${seconds.toFixed(2)} s of CPU a pass\n`)
    expect(seconds).toBeLessThan(CPU_SECONDS_MAX)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)

function queueXml(): string {
  const name = (index: number): string => `node${String(index).padStart(4, '0')}`
  const hosts = Array.from(
    { length: HOSTS },
    (_, index) => `<Queue-List>
<name>all.q@${name(index)}</name><qtype>BIP</qtype><slots_used>8</slots_used><slots_resv>0</slots_resv>
<slots_total>8</slots_total><load_avg>8.0</load_avg><arch>lx-amd64</arch>
<job_list state="running"><JB_job_number>${index + 1}</JB_job_number><JAT_prio>0.5</JAT_prio><JB_name>run</JB_name>
<JB_owner>u</JB_owner><state>r</state><JAT_start_time>2026-11-15T20:00:00</JAT_start_time><slots>8</slots>
<full_job_name>run</full_job_name><requested_pe name="smp">8</requested_pe></job_list>
</Queue-List>`
  )
  const jobs = Array.from(
    { length: JOBS },
    (_, index) => `<job_list state="pending"><JB_job_number>${index + 5000}</JB_job_number>
<JAT_prio>0.25</JAT_prio><JB_name>j${index % 50}</JB_name><JB_owner>user${index % 20}</JB_owner><state>qw</state>
<JB_submission_time>2026-11-15T23:${String(index % 60).padStart(2, '0')}:00</JB_submission_time>
<slots>${1 + (index % 8)}</slots><full_job_name>j${index % 50}</full_job_name>
<requested_pe name="smp">${1 + (index % 8)}</requested_pe><binding>NONE</binding></job_list>`
  )
  return `<?xml version='1.0'?><job_info><queue_info>${hosts.join('\n')}</queue_info><job_info>${jobs.join('\n')}</job_info></job_info>`
}

function hostXml(): string {
  const values = [
    'num_proc',
    'm_socket',
    'm_core',
    'm_thread',
    'load_avg',
    'swap_total',
    'swap_used'
  ]
    .map((name) => `<hostvalue name='${name}'>8</hostvalue>`)
    .join('')
  const hosts = Array.from(
    { length: HOSTS },
    (_, index) =>
      `<host name='node${String(index).padStart(4, '0')}'><hostvalue name='arch_string'>lx-amd64</hostvalue>${values}<hostvalue name='mem_total'>31.3G</hostvalue></host>`
  )
  return `<?xml version='1.0'?><qhost>${hosts.join('\n')}</qhost>`
}
