/** Server-sent events to whoever listens. A listener that does not read is dropped, not waited for. */
import type { FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import { refuse } from './context.js'

const STREAMS_MAX = 64
/** What may wait for a listener to read it. */
const UNREAD_BYTES_MAX = 8 * 1024 * 1024
/** Keeps proxies and the door's own time limit from taking a quiet cluster for a dead connection. */
const QUIET_MS = 15_000

export class EventStream {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  tell(kind: string, data: unknown): void {
    this.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  write(text: string): void {
    if (this.#response.writableLength > UNREAD_BYTES_MAX) this.#response.destroy()
    else if (!this.#response.writableEnded) this.#response.write(text)
  }

  end(): void {
    this.#response.end()
  }
}

export class EventStreams {
  readonly #streams = new Set<EventStream>()
  readonly #quiet: NodeJS.Timeout

  constructor() {
    this.#quiet = setInterval(() => {
      for (const stream of this.#streams) stream.write(': still here\n\n')
    }, QUIET_MS)
    this.#quiet.unref()
  }

  /** Makes the reply a stream; refuses it when there are too many. */
  open(reply: FastifyReply, onClose: () => void = () => undefined): EventStream | undefined {
    if (this.#streams.size >= STREAMS_MAX) {
      const message = `the node has ${STREAMS_MAX} listeners already`
      refuse(reply, 503, { code: 'OC_TOO_MANY', message })
      return undefined
    }
    const { raw } = reply
    reply.hijack()
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream',
      'cache-control': 'no-store'
    })
    const stream = new EventStream(raw)
    this.#streams.add(stream)
    raw.on('error', () => raw.destroy())
    raw.on('close', () => {
      this.#streams.delete(stream)
      onClose()
    })
    return stream
  }

  tell(kind: string, data: unknown): void {
    for (const stream of this.#streams) stream.tell(kind, data)
  }

  close(): void {
    clearInterval(this.#quiet)
    for (const stream of this.#streams) stream.end()
    this.#streams.clear()
  }
}
