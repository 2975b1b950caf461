/** OC.VERSION: which version of a key a client has seen, for transactions that must not miss a change. */
import type { Command } from './command.js'

/** The key's version, 0 if it is not there. */
const OC_VERSION = {
  name: 'oc.version',
  arity: 2,
  flags: ['readonly', 'fast'],
  key: 1,
  execute(call) {
    const ref = call.bucket.find(call.key, call.now)
    call.reply.bulkString(String(ref === 0 ? 0 : call.bucket.versionOf(ref)))
  }
} as const satisfies Command

export const VERSION_COMMANDS: readonly Command[] = [OC_VERSION]
