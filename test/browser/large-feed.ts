/** A door that shows a cluster larger than a test machine can run: the real page, fed by a picture that is made up. */
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { LiveEvents, LiveRow, LiveState } from '../../src/server/live/protocol.js'

const web = join(import.meta.dirname, '..', '..', 'dist', 'web')
const TICK_MS = 250

export class LargeFeed {
  http = ''
  readonly #server: Server
  readonly #listeners = new Set<ServerResponse>()
  readonly #rows: LiveRow[]
  readonly #names: readonly string[]
  readonly #timer: NodeJS.Timeout
  #moved = 0

  constructor(nodes: number, buckets: number) {
    this.#names = Array.from({ length: nodes }, (_, i) => `node-${String(i).padStart(2, '0')}`)
    this.#rows = Array.from({ length: buckets }, (_, id): LiveRow => [
      id,
      this.#nameAt(id * 7),
      this.#nameAt(id * 7 + 1 + (id % 5))
    ])
    this.#server = createServer((request, response) => {
      if (request.url === '/api/live') this.#listen(response)
      else if (request.url === '/api/session') response.end('{"token":null}')
      else if (request.url === '/api/elastic') response.end('{"balancers":[]}')
      else this.#serve(request.url ?? '/', response)
    })
    this.#timer = setInterval(() => this.#move(), TICK_MS)
  }

  #nameAt(index: number): string {
    return this.#names[index % this.#names.length]
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.http = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  close(): void {
    clearInterval(this.#timer)
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #serve(url: string, response: ServerResponse): void {
    const files = JSON.parse(readFileSync(join(web, 'manifest.json'), 'utf8')) as {
      path: string
      type: string
    }[]
    const file = files.find(({ path }) => path === url)
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.setHeader('content-type', file.type)
    response.end(readFileSync(join(web, url === '/' ? 'index.html' : url)))
  }

  #listen(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    this.#tell(response, 'table', { rows: this.#rows })
    this.#tell(response, 'state', this.#state())
    this.#listeners.add(response)
    response.on('close', () => this.#listeners.delete(response))
  }

  #tell<K extends keyof LiveEvents>(response: ServerResponse, kind: K, data: LiveEvents[K]): void {
    response.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** A few copies go elsewhere. */
  #move(): void {
    const changed = Array.from({ length: 16 }, (): LiveRow => {
      const id = (this.#moved++ * 61) % this.#rows.length
      const [, primary, backup] = this.#rows[id]
      const at = this.#names.indexOf(backup) + 3
      const next = this.#nameAt(at) === primary ? this.#nameAt(at + 1) : this.#nameAt(at)
      this.#rows[id] = [id, primary, next]
      return this.#rows[id]
    })
    for (const response of this.#listeners) {
      this.#tell(response, 'rows', changed)
      this.#tell(response, 'state', this.#state())
    }
  }

  #state(): LiveState {
    return {
      node: this.#names[0],
      version: '0',
      cluster: '00000000',
      copies: 2,
      policy: 'majority',
      balanced: false,
      lost: 0,
      moves: [],
      nodes: this.#names.map((name, i) => ({
        name,
        resp: `10.0.0.${i}:13600`,
        http: null,
        state: i === 40 ? 'dead' : 'alive',
        weight: 1,
        zone: '',
        items: 1000 * i,
        bytes: 64_000 * i,
        plan: ''
      }))
    }
  }
}
