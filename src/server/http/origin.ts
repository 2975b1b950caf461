/**
 * Which pages may read what a node says, and act on it. A page that a node of the cluster served may: its own, and one
 * of another node that has died in the meantime and goes on here. Acting takes more: a token that only such a page
 * can have read, in a header that a foreign page cannot set, and to come from the machine the node runs on.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { isLoopback } from '../../config/address.js'

export const TOKEN_HEADER = 'x-opencluster-token'
const TOKEN_BYTES = 24

export class Permissions {
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url')
  readonly #doors: () => readonly string[]

  constructor(doors: () => readonly string[]) {
    this.#doors = doors
  }

  /** Lets a page of another node read the answer. False for a page of somebody else. */
  admit(request: FastifyRequest, reply: FastifyReply): boolean {
    const { origin, host } = request.headers
    if (origin === undefined || origin === `http://${host ?? ''}`) return true
    void reply.header('vary', 'origin')
    if (!this.#isDoor(origin)) return false
    void reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': `content-type, ${TOKEN_HEADER}`,
      'access-control-allow-methods': 'GET, POST',
      'cross-origin-resource-policy': 'cross-origin'
    })
    return true
  }

  /** Why the sender may not act, or nothing. */
  judge(request: FastifyRequest): string | undefined {
    if (!this.isNear(request)) return 'this is only taken from the machine the node runs on'
    const given = Buffer.from(String(request.headers[TOKEN_HEADER] ?? ''))
    const wanted = Buffer.from(this.token)
    const known = given.length === wanted.length && timingSafeEqual(given, wanted)
    return known ? undefined : `the header ${TOKEN_HEADER} is missing or not this node's`
  }

  /** Until there are users with permissions, only someone on this machine may act and see values. */
  isNear(request: FastifyRequest): boolean {
    return isLoopback(request.socket.remoteAddress ?? '')
  }

  #isDoor(origin: string): boolean {
    const address = /^http:\/\/(.+)$/.exec(origin)?.[1]
    if (address === undefined) return false
    const plain = (text: string): string => text.replace(/^localhost:/, '127.0.0.1:')
    return this.#doors().some((door) => plain(door) === plain(address))
  }
}
