import { fileURLToPath } from 'node:url'
import { until, type Processes } from '../processes.js'
import type { Server } from './server.js'

const PROGRAM = fileURLToPath(new URL('./plain-http-main.js', import.meta.url))

export async function startPlainHttp(processes: Processes): Promise<Server> {
  const started = processes.start(process.execPath, [PROGRAM])
  let port = 0
  await until('the plain HTTP server', async () => {
    if (!started.isRunning()) throw new Error(`it did not start: ${await started.ended}`)
    port = Number(/^ready (\d+)$/m.exec(started.stdout())?.[1] ?? 0)
    return port > 0
  })
  return { label: 'node:http', protocol: 'http', ports: [port], httpPort: port, nodes: [started] }
}
