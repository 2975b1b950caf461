/**
 * Changes what the scheduler knows: a host is registered, closed, looked at, opened and deregistered. Every call may be
 * repeated. The scheduler itself is the last word on whether a host is empty: it refuses to forget one with a job.
 */
export interface HostRequest {
  readonly name: string
  readonly address?: string | undefined
  /** Its machine is dead: jobs listed there are lost. */
  readonly isDead: boolean
}

export interface Registrar {
  readonly label: string
  register(host: HostRequest, signal: AbortSignal): Promise<void>
  /** Whether the scheduler takes it: it answers and is open. */
  checkJoined(host: HostRequest, signal: AbortSignal): Promise<boolean>
  /** No new jobs. */
  close(host: HostRequest, signal: AbortSignal): Promise<void>
  /** Jobs there, by the scheduler's own count, read after the host was closed. */
  countJobs(host: HostRequest, signal: AbortSignal): Promise<number>
  open(host: HostRequest, signal: AbortSignal): Promise<void>
  /** Fails while a job is there. */
  deregister(host: HostRequest, signal: AbortSignal): Promise<void>
}
