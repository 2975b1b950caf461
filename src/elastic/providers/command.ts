/**
 * Machines by the user's own commands: `add` launches one (and may print its id and address as JSON), `wait` says
 * whether it is up, `remove` ends it; `list`, `stop`, `start` and `shutdown` are used where they are given. Without
 * `list` the state file is all that is known, so `add` must bear to be called again for the same name.
 */
import { summarize } from '../external-command.js'
import { runHook, type Hook, type HookContext } from '../hooks.js'
import { parseJsonObject, toObjects, toText, type JsonObject } from '../sources/json-reading.js'
import {
  CapacityError,
  type Machine,
  type MachineRequest,
  type MachineState,
  type Provider
} from './provider.js'

export interface CommandHooks {
  readonly add: Hook
  readonly wait?: Hook | undefined
  readonly remove: Hook
  readonly list?: Hook | undefined
  readonly stop?: Hook | undefined
  readonly start?: Hook | undefined
  readonly shutdown?: Hook | undefined
}

const MACHINES_MAX = 100_000
const STATES: readonly MachineState[] = ['pending', 'running', 'stopped', 'gone', 'unknown']

export function createCommandProvider(hooks: CommandHooks, context: HookContext): Provider {
  const launchBy =
    (hook: Hook) =>
    async (request: MachineRequest, signal: AbortSignal): Promise<Machine> => {
      const result = await runHook(hook, context, request, signal)
      if (result === undefined) throw new CapacityError('no machine to be had at the moment')
      return readLaunched(result.stdout, request)
    }
  const endBy =
    (hook: Hook) =>
    async (request: MachineRequest, signal: AbortSignal): Promise<boolean> =>
      (await runHook(hook, context, request, signal)) !== undefined
  const { add, wait, remove, list, stop, start, shutdown } = hooks
  return {
    label: 'command',
    launch: launchBy(add),
    checkReady: async (request, signal) => {
      if (wait === undefined) return toMachine(request)
      const result = await runHook(wait, context, request, signal)
      return result === undefined ? undefined : readLaunched(result.stdout, request)
    },
    terminate: endBy(remove),
    ...(list === undefined
      ? {}
      : {
          list: async (signal) => {
            const result = await runHook(list, context, undefined, signal)
            if (result === undefined) throw new Error('the list of machines is not to be had now')
            return readMachines(result.stdout)
          }
        }),
    ...(stop === undefined ? {} : { stop: endBy(stop) }),
    ...(start === undefined ? {} : { start: launchBy(start) }),
    ...(shutdown === undefined
      ? {}
      : {
          shutdown: async (signal) => {
            const result = await runHook(shutdown, context, undefined, signal)
            if (result === undefined) throw new Error('the cluster cannot be ended now')
          }
        })
  }
}

function toMachine({ name, id, address }: MachineRequest): Machine {
  return {
    name,
    id: id ?? name,
    state: 'running',
    ...(address === undefined ? {} : { address })
  }
}

/** Nothing, or one JSON object on the last line: `{"id": "i-1", "address": "10.0.0.7"}`. */
function readLaunched(stdout: string, request: MachineRequest): Machine {
  const line = stdout.trimEnd().split('\n').at(-1) ?? ''
  if (!line.startsWith('{')) return toMachine(request)
  const { id, address } = parseJsonObject(line, 'what the command printed')
  return toMachine({
    name: request.name,
    id: id === undefined ? request.id : toText(id, 'id'),
    address: address === undefined ? request.address : toText(address, 'address')
  })
}

/** `[{"name": "node001", "id": "i-1", "state": "running", "address": "…", "launchedAt": 1794770383000}]`. */
function readMachines(stdout: string): Machine[] {
  const text = stdout.trim()
  if (!text.startsWith('[') || !text.endsWith(']')) {
    throw new Error(`list: a JSON list expected, not ${summarize(text).slice(0, 60)}`)
  }
  const { list } = parseJsonObject(`{"list":${text}}`, 'list')
  return toObjects(list, 'list', MACHINES_MAX).map((entry, index) => readMachine(entry, index))
}

function readMachine(entry: JsonObject, index: number): Machine {
  const what = `list[${index}]`
  const name = toText(entry['name'], `${what}.name`)
  const state = STATES.find((one) => one === (entry['state'] ?? 'running'))
  if (state === undefined) throw new Error(`${what}.state: must be ${STATES.join(', ')}`)
  const { address, launchedAt, pricePerHour, interruptionAt } = entry
  return {
    name,
    id: entry['id'] === undefined ? name : toText(entry['id'], `${what}.id`),
    state,
    ...(address === undefined ? {} : { address: toText(address, `${what}.address`) }),
    ...(typeof launchedAt === 'number' ? { launchedAt } : {}),
    ...(typeof pricePerHour === 'number' ? { pricePerHour } : {}),
    ...(typeof interruptionAt === 'number' ? { interruptionAt } : {})
  }
}
