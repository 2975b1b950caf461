/**
 * The balancer's memory as one small JSON file. It is replaced, never changed: written beside, forced to the disk,
 * renamed. A file that cannot be understood is an error and not an empty memory: with it machines would be forgotten.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { createHistory } from '../core/scaling/history.js'
import type { History, ProviderFailure } from '../core/scaling/facts.js'
import { ADDING_STEPS, REMOVING_STEPS, type HostRecord, type Phase } from './host-record.js'

export interface ElasticState {
  readonly records: readonly HostRecord[]
  readonly history: History
  readonly bootFailures: readonly ProviderFailure[]
  readonly capacityFailures: readonly ProviderFailure[]
  readonly lastBootAt?: number
  readonly bootDurationsMs: readonly number[]
  /** What the hosts have cost since the balancer first looked. */
  readonly cost: number
}

const VERSION = 1
const FILE_BYTES_MAX = 64 * 1024 * 1024
const PHASES: readonly Phase[] = ['adding', 'serving', 'closed', 'removing', 'stopped']
const STEPS: readonly string[] = [...ADDING_STEPS, ...REMOVING_STEPS]

export function createState(now: number): ElasticState {
  return {
    records: [],
    history: createHistory(now),
    bootFailures: [],
    capacityFailures: [],
    bootDurationsMs: [],
    cost: 0
  }
}

export function loadState(path: string, now: number): ElasticState {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return createState(now)
    throw error
  }
  try {
    if (text.length > FILE_BYTES_MAX) throw new Error('it is too large')
    return { ...createState(now), ...readState(JSON.parse(text)) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${path} cannot be understood (${why}); mend it, or move it away after looking which machines run`,
      { cause: error }
    )
  }
}

function readState(value: unknown): Partial<ElasticState> {
  if (typeof value !== 'object' || value === null) throw new Error('no object')
  const { version, ...state } = value as { version?: unknown } & Partial<ElasticState>
  if (version !== VERSION) throw new Error(`version ${String(version)} instead of ${VERSION}`)
  if (!Array.isArray(state.records)) throw new Error('no records')
  for (const record of state.records as readonly Partial<HostRecord>[]) {
    const { name, phase, step } = record
    if (typeof name !== 'string' || name === '') throw new Error('a host without name')
    if (phase === undefined || !PHASES.includes(phase)) throw new Error(`${name} in no phase`)
    if (step !== undefined && !STEPS.includes(step)) throw new Error(`${name} at no step`)
  }
  return state
}

export function saveState(path: string, state: ElasticState): void {
  writeFileSafely(path, `${JSON.stringify({ version: VERSION, ...state }, undefined, 1)}\n`)
}

/** Whoever reads the path sees the old text or the new one, whole, even after a power cut. */
export function writeFileSafely(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`
  const file = openSync(beside, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
