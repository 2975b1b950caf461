/** Replies that are the same whatever was asked. */
import { latin1Bytes } from '../../core/bytes.js'

/** The answer to whoever passed a command on: pass it on again, to the next primary. */
export const AGAIN = latin1Bytes('-OC_AGAIN\r\n')

export function isAgain(reply: Uint8Array): boolean {
  return reply.length === AGAIN.length && AGAIN.every((byte, i) => reply[i] === byte)
}

export function asError(text: string): Uint8Array {
  // It may quote what the client sent, but is one line.
  return latin1Bytes(`-${text.replace(/[\r\n]/g, ' ')}\r\n`)
}
