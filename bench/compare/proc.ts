/** What the kernel says of a process: the same measure for every server, whatever it is written in. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

let ticksPerSecond: number | undefined

/** Processor time of all threads, user and kernel, in microseconds. Steps of 10 ms as a rule. */
export function readCpuUs(pid: number): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  const text = readProc(pid, 'stat')
  // The second field is the program's name in brackets, and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}

export function readRssBytes(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))
  if (found === null) throw new Error(`process ${pid} has no memory: it has ended`)
  return Number(found[1]) * 1024
}

/** What all processors did so far, in ticks: altogether, and while another machine on the same host had them. */
export interface ProcessorTime {
  readonly all: number
  readonly stolen: number
}

const STOLEN_FIELD = 7

/** The first line of `/proc/stat`; of the ten figures the last two are parts of the first two. */
export function parseProcessorTime(text: string): ProcessorTime {
  const figures = text.slice(0, text.indexOf('\n')).trim().split(/ +/).slice(1, 9).map(Number)
  return { all: sum(figures), stolen: figures[STOLEN_FIELD] ?? 0 }
}

export function readProcessorTime(): ProcessorTime {
  return parseProcessorTime(readFileSync('/proc/stat', 'utf8'))
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    throw new Error(`process ${pid} has ended`)
  }
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
