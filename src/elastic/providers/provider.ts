/**
 * A provider has machines: it launches, lists and ends them. Every call may be repeated: launching a name that is
 * there already gives that machine, ending one that is gone is no failure. What is lost between the call and the
 * state file is found again by its name in the list.
 */

/**
 * - `pending` comes up. - `stopped` is switched off. - `gone` is known to be no more.
 * - `unknown` did not answer, which proves nothing.
 */
export type MachineState = 'pending' | 'running' | 'stopped' | 'gone' | 'unknown'

export interface Machine {
  /** The host name it was launched for. */
  readonly name: string
  readonly id: string
  readonly state: MachineState
  readonly address?: string
  readonly launchedAt?: number
  readonly pricePerHour?: number
  /** The provider will take it away then. */
  readonly interruptionAt?: number
}

export interface MachineRequest {
  readonly name: string
  readonly id?: string | undefined
  readonly address?: string | undefined
  /** The same for every attempt at the same host, and never again: for requests that must not be done twice. */
  readonly token?: string | undefined
}

export interface Provider {
  readonly label: string
  /** All machines of this cluster; undefined if the provider cannot tell, then the state file is all there is. */
  list?(signal: AbortSignal): Promise<readonly Machine[]>
  launch(request: MachineRequest, signal: AbortSignal): Promise<Machine>
  /** Whether it can be set up now, and its address if that is known only now. */
  checkReady(request: MachineRequest, signal: AbortSignal): Promise<Machine | undefined>
  /** True when it is gone, false when it is on the way. */
  terminate(request: MachineRequest, signal: AbortSignal): Promise<boolean>
  stop?(request: MachineRequest, signal: AbortSignal): Promise<boolean>
  start?(request: MachineRequest, signal: AbortSignal): Promise<Machine>
  /** `--kill-cluster`: end the master's machine, and whatever else is left. */
  shutdown?(signal: AbortSignal): Promise<void>
  /** Names it can give, where they are not free to choose (a pool). */
  listNames?(): readonly string[]
}

/** The provider has none to give at the moment. */
export class CapacityError extends Error {
  override readonly name = 'CapacityError'
}
