/** memcached: its own protocol, and GET and SET only. */
import { connect } from 'node:net'
import { findFreePort, until, type Processes } from '../processes.js'
import type { Server } from './server.js'

const MEMORY_MB = 4096

export async function startMemcached(processes: Processes, path: string): Promise<Server> {
  const port = await findFreePort()
  const place = ['-l', '127.0.0.1', '-p', String(port), '-U', '0']
  // One thread, as everyone else has one; root is refused unless a user is named.
  const user = process.getuid?.() === 0 ? ['-u', 'root'] : []
  const limits = ['-t', '1', '-m', String(MEMORY_MB), ...user]
  const started = processes.start(path, [...place, ...limits])
  await until('memcached that is ready', async () => {
    if (!started.isRunning()) throw new Error(`${path} did not start: ${await started.ended}`)
    return canConnect(port)
  })
  const nodes = [started]
  return { label: 'memcached', protocol: 'memcached', ports: [port], httpPort: undefined, nodes }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (can: boolean): void => {
      socket.destroy()
      resolve(can)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
