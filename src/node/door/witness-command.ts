/**
 * OC.WITNESS bucket epoch: a client says that the primary of the bucket does not answer it. A backup that hears it all
 * the same, or knows a newer row, says where the primary is; one that does not hear it either has its second witness.
 */
import { NOBODY } from '../../core/ids.js'
import type { DoorCommand } from './door.js'

export const OC_WITNESS = {
  name: 'oc.witness',
  arity: 3,
  execute(door, slot, args) {
    const { cluster } = door
    const { table, members } = cluster
    const [bucket, epoch] = [readCount(args.text(1)), readCount(args.text(2))]
    if (bucket === undefined || bucket > table.mask || epoch === undefined) {
      door.refuse(
        slot,
        `ERR OC.WITNESS needs a bucket up to ${table.mask} and the epoch of its row`
      )
      return
    }
    const evidence = cluster.witness(bucket, epoch)
    const primary = table.primaryOf(bucket)
    const address = primary === NOBODY ? undefined : members.get(table.nameOf(primary))?.address
    door.reply(slot, (reply) => {
      reply.simple(evidence === 'pending' ? 'PENDING' : `TRY ${address ?? 'LATER'}`)
    })
  }
} as const satisfies DoorCommand

function readCount(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
