/** The HTTP door of a node whose placement is a ring: document 003's routes, `/health`, `/api/cluster`, `/metrics` and the page. */
import type { PortChoice } from '../../config/option.js'
import { parseAddress, formatAddress, isWildcard } from '../../config/address.js'
import type { Door } from '../../runtime/access.js'
import type { RingAccess } from '../../runtime/ring-node.js'
import { addNodeActions } from './actions.js'
import { cluster } from './cluster.js'
import { addRingConfig } from './cluster-config.js'
import { elastic } from './elastic.js'
import { addEntities } from './entities.js'
import { addEntity } from './entity.js'
import { health } from './health.js'
import { addKeyLookup, findInRing } from './key-lookup.js'
import { Permissions } from './origin.js'
import { addRingLive, doorsOf } from './ring-live.js'
import { addRingMetrics } from './ring-metrics.js'
import { createRingStore } from './ring-store.js'
import { createApp, listen } from './server.js'

export interface RingHttpOptions {
  readonly node: RingAccess
  readonly host: string
  readonly port: Exclude<PortChoice, 'off'>
  /** Where the node is reached, if not where it listens. */
  readonly advertise: string | undefined
}

export async function startRingHttp(options: RingHttpOptions): Promise<Door> {
  const { node, host, port, advertise } = options
  const app = createApp(node, host)
  const store = createRingStore(node)
  app.register((scope, _options, done) => {
    addEntity(scope, store)
    addEntities(scope, store)
    addRingConfig(scope, node)
    done()
  })
  const permissions = new Permissions(() => doorsOf(node))
  const closing: (() => void)[] = []
  app.register((scope, _options, done) => {
    health(scope, { node })
    cluster(scope, { node, permissions })
    elastic(scope, { node, permissions })
    closing.push(addRingMetrics(scope, node), addRingLive(scope, node, { permissions, host }))
    done()
  })
  app.register((scope, _options, done) => {
    addNodeActions(scope, { node, permissions, nodes: () => node.status().nodes })
    addKeyLookup(scope, (key) => findInRing(node, key))
    done()
  })
  await app.ready()
  const bound = await listen(app, isWildcard(host) ? '' : host, port)
  const reached = advertise === undefined ? host : (parseAddress(advertise)?.host ?? host)
  return {
    address: formatAddress({ host: reached, port: bound }),
    close: () => {
      for (const act of closing) act()
      return app.close()
    }
  }
}
