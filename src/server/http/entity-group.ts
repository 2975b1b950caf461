/** Document 003's routes where the placement is buckets. */
import { createBucketStore } from './bucket-store.js'
import { addBucketConfig } from './cluster-config.js'
import type { RouteGroup } from './context.js'
import { addEntities } from './entities.js'
import { addEntity } from './entity.js'

export const entities: RouteGroup = (app, { node }) => {
  const store = createBucketStore(node)
  addEntity(app, store)
  addEntities(app, store)
  addBucketConfig(app, node)
}
