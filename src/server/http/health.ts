/** `/health`: for load balancers and Kubernetes. 200 while the node serves, 503 with the reason otherwise. */
import type { FastifyInstance } from 'fastify'
import type { NodeAccess } from '../../runtime/access.js'

export function health(
  app: FastifyInstance,
  { node }: { readonly node: Pick<NodeAccess, 'name' | 'health'> }
): void {
  app.get('/health', (_request, reply) => {
    const { serving, state, reason } = node.health()
    void reply.header('cache-control', 'no-store')
    if (serving) return reply.send({ status: state, node: node.name })
    return reply
      .code(503)
      .send({ status: state, node: node.name, code: 'OC_NOT_SERVING', message: reason })
  })
}
