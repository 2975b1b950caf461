/**
 * Who is it? Decided once a connection, from its first bytes: a client, someone with a command
 * about the node itself, or someone at the wrong door. Afterwards nothing on the data path has to ask.
 */
import { latin1String } from '../core/bytes.js'

export type Caller = 'client' | 'admin' | 'http' | 'tls' | 'unclear'

/** Answered by the runtime, not by the node; only as the first command of a connection. */
export const ADMIN_COMMANDS = [
  'OC.STATUS',
  'OC.REPORT',
  'OC.LEAVE',
  'OC.FORGET',
  'OC.LINK'
] as const

/** More first bytes than this need not be seen to know. */
export const FIRST_BYTES_MAX = 2048

const HEAD = /^\*\d{1,3}\r\n\$\d{1,2}\r\n/
const HEAD_BEGUN = /^\*(?:\d{0,3}|\d{1,3}\r|\d{1,3}\r\n(?:\$(?:\d{0,2}|\d{1,2}\r))?)$/
const HTTP_METHOD = /^(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) /
const TLS_HANDSHAKE = '\x16\x03'

export function recognise(bytes: Uint8Array): Caller {
  const text = latin1String(bytes, 0, Math.min(bytes.length, FIRST_BYTES_MAX))
  if (text.startsWith('*')) {
    const head = HEAD.exec(text)
    if (head === null) return HEAD_BEGUN.test(text) ? 'unclear' : 'client'
    return recogniseName(text.slice(head[0].length))
  }
  if (text.startsWith(TLS_HANDSHAKE)) return 'tls'
  // Anything else is a line, which is nothing to anybody before it has ended.
  const line = /^[^\n]*\n/.exec(text)?.[0]
  if (line === undefined) return text.length < FIRST_BYTES_MAX ? 'unclear' : 'client'
  if (HTTP_METHOD.test(line) && line.includes(' HTTP/1.')) return 'http'
  const word = /^[^\r\n ]*/.exec(line)?.[0].toUpperCase()
  return ADMIN_COMMANDS.some((command) => command === word) ? 'admin' : 'client'
}

function recogniseName(name: string): Caller {
  const upper = name.toUpperCase()
  for (const command of ADMIN_COMMANDS) {
    const whole = `${command}\r\n`
    if (upper.startsWith(whole)) return 'admin'
    if (whole.startsWith(upper)) return 'unclear'
  }
  return 'client'
}
