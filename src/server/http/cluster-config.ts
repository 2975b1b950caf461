/**
 * `/v0/cluster-config`: document 003's `{"urlToHash": {URL: [positions]}}`, with what is in progress beside it.
 * `/v0/maindeletenode`: the node it is sent to leaves, after everything it holds is elsewhere; by POST, and by GET as
 * the document has it. `/v0/positions` (PUT, a JSON array): other positions for this node, on a running ring.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isPosition, VNODES_MAX } from '../../core/placement/ring.js'
import type { RingInspection } from '../../node/ring/inspection.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { RingAccess } from '../../runtime/ring-node.js'
import { refuse } from './context.js'
import { refuseOtherMethods } from './entity.js'

const CONFIG = '/v0/cluster-config'
const REMOVAL = '/v0/maindeletenode'
const POSITIONS = '/v0/positions'

export function addRingConfig(app: FastifyInstance, node: RingAccess): void {
  app.get(CONFIG, { exposeHeadRoute: false }, (_request, reply) => {
    const inspection = node.inspect()
    void reply.header('cache-control', 'no-store')
    if (inspection === undefined) {
      const message = 'the node is not part of a ring yet'
      return refuse(reply, 503, { code: 'OC_NOT_SERVING', message })
    }
    return reply.send(describe(inspection))
  })
  addRemoval(app, () => {
    const left = node.inspect()?.records ?? 0
    node.leave().catch((error: unknown) => node.log.error('leave', { error: String(error) }))
    return { node: node.name, state: 'leaving', records: left }
  })
  app.put(POSITIONS, (request, reply) => {
    const positions = readPositions(request.body)
    if (positions === undefined) {
      const message = `a JSON array of 1 to ${VNODES_MAX} different signed 32-bit numbers is wanted`
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
    }
    node.place(positions)
    return reply.code(202).send({ node: node.name, wanted: positions })
  })
  refuseOtherMethods(app, POSITIONS, ['GET', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
  refuseOtherMethods(app, CONFIG, ['PUT', 'DELETE', 'POST', 'PATCH', 'HEAD', 'OPTIONS'])
}

/** Where the placement is buckets nodes have no positions; the rest is the same. */
export function addBucketConfig(app: FastifyInstance, node: NodeAccess): void {
  app.get(CONFIG, { exposeHeadRoute: false }, (_request, reply) => {
    const { nodes } = node.brief()
    const urlToHash = Object.fromEntries(nodes.map(({ name }) => [name, []]))
    const names = nodes.map(({ name, state }) => ({ name, state }))
    void reply.header('cache-control', 'no-store')
    return reply.send({ urlToHash, placement: 'buckets', nodes: names })
  })
  addRemoval(app, () => {
    node.leave().catch((error: unknown) => node.log.error('leave', { error: String(error) }))
    return { node: node.name, state: 'leaving' }
  })
  refuseOtherMethods(app, CONFIG, ['PUT', 'DELETE', 'POST', 'PATCH', 'HEAD', 'OPTIONS'])
}

function addRemoval(app: FastifyInstance, remove: () => object): void {
  const handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // A page of some website could make a browser send this; nobody who asks for it on purpose sends these headers.
    const site = request.headers['sec-fetch-site']
    if (site === 'cross-site' || site === 'same-site') {
      return refuse(reply, 403, { code: 'OC_FORBIDDEN', message: 'not from another page' })
    }
    return reply.send(remove())
  }
  app.route({ method: ['GET', 'POST'], url: REMOVAL, exposeHeadRoute: false, handler })
  refuseOtherMethods(app, REMOVAL, ['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
}

function readPositions(body: unknown): number[] | undefined {
  if (!(body instanceof Uint8Array)) return undefined
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > VNODES_MAX) return undefined
  const positions = value.filter((one) => typeof one === 'number' && isPosition(one)) as number[]
  if (positions.length !== value.length || new Set(positions).size !== value.length)
    return undefined
  return positions
}

function describe(inspection: RingInspection): object {
  const { configuration, members, name, filled, received, hints, removed, records } = inspection
  const { version, stage, copies } = configuration
  const onRing = configuration.members.filter(({ positions }) => positions.length > 0)
  const state = ({ hollow, leaving, up }: RingInspection['members'][number]): string =>
    !up ? 'away' : leaving ? 'leaving' : hollow ? 'filling' : 'alive'
  const underReplicated = onRing.length < copies
  return {
    urlToHash: Object.fromEntries(onRing.map(({ url, positions }) => [url, positions])),
    placement: 'ring',
    version,
    stage,
    copies,
    underReplicated,
    node: name,
    nodes: configuration.members.map((member, index) => ({
      name: member.name,
      url: member.url,
      address: member.address,
      state: state(members[index]),
      share: members[index].share,
      records: members[index].records,
      ...(stage === 'rest' ? {} : { wanted: member.wanted })
    })),
    progress: { filled, received, hints, removed, records }
  }
}
