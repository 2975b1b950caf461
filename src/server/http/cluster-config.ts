/**
 * `/v0/cluster-config`: document 003's `{"urlToHash": {URL: [positions]}}`, with what is in progress beside it.
 * `/v0/maindeletenode`: the node it is sent to leaves, after everything it holds is elsewhere; by POST, and by GET as
 * the document has it. `/v0/positions`: other positions for this node, on a running ring; all of them (PUT, a JSON
 * array), or one more or one fewer (POST with `add` or `drop`).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isPosition, VNODES_MAX } from '../../core/placement/ring.js'
import type { RingInspection } from '../../node/ring/inspection.js'
import type { NodeAccess } from '../../runtime/access.js'
import type { RingAccess } from '../../runtime/ring-node.js'
import { refuse } from './context.js'
import { refuseOtherMethods } from './entity.js'
import { parseQuery, QueryError, type Query } from './query.js'

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
  addPositions(app, node)
  refuseOtherMethods(app, CONFIG, ['PUT', 'DELETE', 'POST', 'PATCH', 'HEAD', 'OPTIONS'])
}

function addPositions(app: FastifyInstance, node: RingAccess): void {
  const place = (reply: FastifyReply, positions: readonly number[]): FastifyReply => {
    node.place(positions)
    return reply.code(202).send({ node: node.name, wanted: positions })
  }
  app.put(POSITIONS, (request, reply) => {
    const positions = readPositions(request.body)
    if (positions !== undefined) return place(reply, positions)
    const message = `a JSON array of 1 to ${VNODES_MAX} different signed 32-bit numbers is wanted`
    return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message })
  })
  app.post(POSITIONS, (request, reply) => {
    const held = node.inspect()?.wanted ?? []
    try {
      return place(reply, changePositions(held, parseQuery(request.raw.url ?? '')))
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      return refuse(reply, 400, { code: 'OC_BAD_REQUEST', message: error.message })
    }
  })
  refuseOtherMethods(app, POSITIONS, ['GET', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
}

/** One position more or one fewer; those that are there keep their order. */
function changePositions(held: readonly number[], query: Query): number[] {
  const [name, ...others] = query.keys()
  if ((name !== 'add' && name !== 'drop') || others.length > 0) {
    throw new QueryError('add or drop is wanted, one of them')
  }
  const text = Buffer.from(query.get(name) ?? []).toString('latin1')
  const position = /^-?\d{1,10}$/.test(text) ? Number(text) : NaN
  if (!isPosition(position)) throw new QueryError(`${name} must be a signed 32-bit number`)
  const isHeld = held.includes(position)
  if (name === 'add') {
    if (isHeld) throw new QueryError(`${position} is a position of this node already`)
    if (held.length >= VNODES_MAX)
      throw new QueryError(`a node has at most ${VNODES_MAX} positions`)
    return [...held, position]
  }
  if (!isHeld) throw new QueryError(`${position} is not a position of this node`)
  if (held.length === 1) throw new QueryError('it is the only position: let the node leave')
  return held.filter((other) => other !== position)
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
  const { underReplicated: underReplicatedRecords } = inspection
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
    underReplicatedRecords,
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
