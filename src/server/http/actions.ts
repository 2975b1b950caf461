/** What the dashboard can do: let a node go, strike a dead one, look a key up. All of it takes a permission. */
import type { FastifyInstance } from 'fastify'
import type { Log } from '../../runtime/log.js'
import type { NodeStatus } from '../../runtime/status.js'
import { withConnection } from '../../runtime/resp-connection.js'
import { refuse, type RouteGroup } from './context.js'
import { addKeyLookup, findInBuckets } from './key-lookup.js'
import type { Permissions } from './origin.js'

interface NodeParams {
  readonly name: string
}

/** What a node of either placement can be asked for. */
interface Removable {
  readonly name: string
  readonly log: Log
  leave(): Promise<unknown>
  forget(name: string): string | undefined
}

export const actions: RouteGroup = (app, context) => {
  const { node, permissions } = context
  addNodeActions(app, { node, permissions, nodes: () => node.brief().nodes })

  addKeyLookup(app, (key) => findInBuckets(node, key))
}

export interface NodeActionOptions {
  readonly node: Removable
  readonly permissions: Permissions
  readonly nodes: () => readonly Pick<NodeStatus, 'name' | 'state' | 'resp'>[]
}

/** On a scope of its own: whatever else is added there takes the same permission. */
export function addNodeActions(
  app: FastifyInstance,
  { node, permissions, nodes }: NodeActionOptions
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const admitted = permissions.admit(request, reply)
    const problem = admitted ? permissions.judge(request) : 'this page is not of this cluster'
    if (problem === undefined) done()
    else refuse(reply, 403, { code: 'OC_FORBIDDEN', message: problem })
  })

  app.post<{ Params: NodeParams }>('/api/nodes/:name/leave', async (request, reply) => {
    const { name } = request.params
    const target = nodes().find((one) => one.name === name)
    if (target === undefined || target.state !== 'alive') {
      const message = `there is no node named ${name} that could leave`
      return refuse(reply, 404, { code: 'OC_NOT_FOUND', message })
    }
    node.log.info('asked to let a node leave', { name, from: request.ip })
    if (name === node.name) void node.leave()
    else await askToLeave(target.resp, (reason) => node.log.warn('leave', { name, reason }))
    return reply.code(202).send({ name, state: 'leaving' })
  })

  app.post<{ Params: NodeParams }>('/api/nodes/:name/forget', (request, reply) => {
    const { name } = request.params
    node.log.info('asked to forget a node', { name, from: request.ip })
    const message = node.forget(name)
    if (message === undefined) return reply.send({ name, state: 'left' })
    return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
  })
}

/** A node answers when it has left; whoever clicked only wants to know that it was told. */
async function askToLeave(address: string, onProblem: (reason: string) => void): Promise<void> {
  const TOLD_MS = 300
  const left = withConnection(address, (connection) => connection.call('OC.LEAVE'))
  left.catch((error: unknown) => onProblem(String(error)))
  await Promise.race([left, new Promise((resolve) => setTimeout(resolve, TOLD_MS))])
}
