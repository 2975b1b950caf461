/** Addresses as people write them: `HOST:PORT`, with brackets around an IPv6 host. */
export interface Address {
  readonly host: string
  readonly port: number
}

const ADDRESS = /^(?:\[([0-9A-Fa-f:.%a-z]+)\]|([^:[\]\s]+)):(\d{1,5})$/

export function parseAddress(text: string): Address | undefined {
  const match = ADDRESS.exec(text)
  if (match === null || text.length > 300) return undefined
  const port = Number(match[3])
  return port < 1 || port > 65_535 ? undefined : { host: match.at(1) ?? match[2], port }
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** What is wrong with an address, or nothing. */
export function judgeAddress(text: string): string | undefined {
  return parseAddress(text) === undefined ? 'must be HOST:PORT, such as 127.0.0.1:13600' : undefined
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(host)
}

/** Whether it stands for every address of this machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '*' || host === ''
}
