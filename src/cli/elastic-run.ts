/** `simulate --elastic`: days of jobs, or a trace from a file, against the policies of the load balancer side by side. */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import {
  compareTraces,
  DAY_NAMES,
  describeSettings,
  ELASTIC_SETTINGS,
  formatRows,
  judgeRows,
  type DayName,
  type WorkloadFile
} from '../../sim/elastic/report.js'
import { EXIT, type Output } from './command.js'
import type { SimulateValues } from './simulate-options.js'

const FILE_BYTES_MAX = 256 * 1024 * 1024
const SECOND_MS = 1000

export function runElasticDays(values: SimulateValues, output: Output): number {
  const { seed, days, hours, workload = DAY_NAMES } = values
  const traces: (DayName | WorkloadFile)[] = []
  for (const name of workload) {
    const day = DAY_NAMES.find((known) => known === name)
    try {
      traces.push(day ?? readWorkload(name))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      output.stderr.write(`opencluster simulate: --workload ${name}: ${why}\n`)
      return EXIT.usage
    }
  }
  const settings = {
    ...ELASTIC_SETTINGS,
    seed: seed ?? ELASTIC_SETTINGS.seed,
    hostsMax: values['hosts-max'],
    slotsPerHost: values.slots,
    bootMs: values['boot-time'] * SECOND_MS,
    pricePerHour: values.price
  }
  const compared = compareTraces({ traces, seeds: days, hoursMax: hours, settings })
  if (values.json === true) {
    output.stdout.write(`${JSON.stringify([...compared])}\n`)
    return EXIT.success
  }
  output.stdout.write(`${describeSettings(settings)}\n`)
  for (const { title, rows } of compared) {
    const lines = ['', title, ...formatRows(rows), ...judgeRows(rows)]
    output.stdout.write(`${lines.join('\n')}\n`)
  }
  return EXIT.success
}

function readWorkload(path: string): WorkloadFile {
  if (statSync(path).size > FILE_BYTES_MAX) throw new Error('the file is too large')
  return { name: basename(path), text: readFileSync(path, 'utf8') }
}
