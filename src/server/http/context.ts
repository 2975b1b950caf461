/** What the groups of routes share. Each group is a file of its own and one line in `server.ts`. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ErrorCode } from '../../errors.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { ClusterFeed } from '../live/cluster-feed.js'
import type { Permissions } from './origin.js'

export interface HttpContext {
  readonly node: NodeAccess
  /** The whole cluster, as far as this node hears of it. */
  readonly feed: ClusterFeed
  readonly permissions: Permissions
  /** Where this door is: `HOST:PORT`; known once it listens. */
  readonly address: () => string
  /** Called when the door closes, before its connections are ended. */
  onClose(act: () => void): void
}

/** Registers its routes on a scope of its own: parsers and hooks it adds are for these routes only. */
export type RouteGroup = (app: FastifyInstance, context: HttpContext) => void

/** The one form of an error: JSON with a code of the table and a message. */
export function refuse(
  reply: FastifyReply,
  status: number,
  error: { readonly code: ErrorCode; readonly message: string }
): FastifyReply {
  return reply
    .code(status)
    .type('application/json')
    .send({ code: error.code, message: error.message })
}
