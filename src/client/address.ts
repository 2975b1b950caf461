/** `HOST:PORT`, with brackets around an IPv6 host; the port may be left out. */
import { OpenClusterError } from '../errors.js'

export const PORT_DEFAULT = 13600

const ADDRESS = /^(?:\[([0-9A-Za-z:.%]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/

export interface Target {
  readonly host: string
  readonly port: number
}

export function parseTarget(text: string): Target | undefined {
  const match = text.length > 300 ? null : ADDRESS.exec(text)
  if (match === null) return undefined
  const [, bracketed, plain, digits] = match as (string | undefined)[]
  const port = digits === undefined ? PORT_DEFAULT : Number(digits)
  return port < 1 || port > 65_535 ? undefined : { host: bracketed ?? plain ?? '', port }
}

/** In the one form that nodes use as well, so that an address is one key. */
export function normalizeAddress(text: string): string {
  const target = parseTarget(text)
  if (target === undefined) {
    throw new OpenClusterError(
      'OC_BAD_OPTION',
      `${text}: an address must be HOST:PORT, such as 127.0.0.1:${PORT_DEFAULT}`
    )
  }
  const { host, port } = target
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
