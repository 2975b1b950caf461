/** The ways a command can fail without a node having refused it. */
import { OpenClusterError } from '../errors.js'

export function closedError(): OpenClusterError {
  return new OpenClusterError('OC_CLOSED', 'the client is closed')
}

export function busyError(): OpenClusterError {
  return new OpenClusterError('OC_BUSY', 'too many commands wait for their replies')
}

export function timeoutError(reason: string): OpenClusterError {
  return new OpenClusterError('OC_TIMEOUT', reason === '' ? 'nobody answered in time' : reason)
}

export function unknownError(reason: string): OpenClusterError {
  return new OpenClusterError('OC_UNKNOWN', `${reason}; the write may have happened`)
}
