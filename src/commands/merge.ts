/**
 * An item that another copy has, as a write like any other: two sides of a cut wrote the same bucket, and one gives the
 * other what it has. The newest version wins, deletions count, and a collection goes or stays as a whole.
 */
import { ByteReader, compareBytes, FormatError } from '../core/bytes.js'
import { decodeItem, Item } from '../store/item.js'
import { TYPE_TOMBSTONE } from '../store/value-type.js'
import type { Call } from './call.js'
import type { Command } from './command.js'

const item = new Item()

/** The item in the argument, or undefined if it is none, is another key's, or comes from the future. */
function readItem(call: Call): Item | undefined {
  const payload = call.bytes.subarray(call.offsets[2], call.offsets[2] + call.lengths[2])
  const reader = ByteReader.over(payload)
  try {
    decodeItem(reader, item)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return undefined
  }
  const { key } = call
  const same =
    item.key.length === key.length &&
    item.placementHash === key.placementHash &&
    compareBytes(item.key.copy(), key.bytes.subarray(key.offset, key.offset + key.length)) === 0
  return same && reader.remaining === 0 && item.version <= call.version ? item : undefined
}

const OC_MERGE = {
  name: 'oc.merge',
  arity: 3,
  flags: ['write', 'memory'],
  key: 1,
  execute(call) {
    const found = readItem(call)
    if (found === undefined) {
      call.reply.error('ERR not an item of this key')
      return
    }
    const applied = call.bucket.applyItem(call.key, found)
    if (applied) call.changed(found.type === TYPE_TOMBSTONE ? 'deleted' : 'set')
    call.reply.integer(applied ? 1 : 0)
  }
} as const satisfies Command

export const MERGE_COMMANDS: readonly Command[] = [OC_MERGE]
