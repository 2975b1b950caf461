/** A command as clients send it, for commands that a node makes itself. */
import { ByteWriter } from '../../core/bytes.js'

export function encodeArguments(args: readonly Uint8Array[]): Uint8Array {
  const size = args.reduce((sum, argument) => sum + argument.length + 16, 16)
  const writer = new ByteWriter(size)
  writer.latin1(`*${args.length}\r\n`)
  for (const argument of args) {
    writer.latin1(`$${argument.length}\r\n`)
    writer.raw(argument)
    writer.latin1('\r\n')
  }
  return writer.copy()
}
