/** Who this is to a Redis client: names of 40 hexadecimal digits, and the Redis whose commands are understood. */
import { latin1Bytes } from '../../core/bytes.js'
import { md5Hex } from '../../core/hash/md5.js'

export const SERVER_VERSION = '7.2.4'

const ID_DIGITS = 40

/** The same for the same text on every node. */
export function hexId(text: string): string {
  const bytes = latin1Bytes(text)
  const again = latin1Bytes(`${text}\n`)
  return (md5Hex(bytes, 0, bytes.length) + md5Hex(again, 0, again.length)).slice(0, ID_DIGITS)
}
