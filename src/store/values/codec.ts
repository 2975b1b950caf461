/** From the encoding of a heap value back to the value, by kind. */
import { type ByteReader, FormatError } from '../../core/bytes.js'
import type { HeapKind, HeapValue } from '../value-type.js'
import { HashValue } from './hash-value.js'
import { ListValue } from './list-value.js'
import { SetValue } from './set-value.js'
import { ZsetValue } from './zset-value.js'

export function decodeValue(kind: HeapKind, reader: ByteReader): HeapValue {
  const value = decodeKind(kind, reader)
  if (reader.remaining > 0) throw new FormatError(`bytes are left over behind a ${kind}`)
  return value
}

function decodeKind(kind: HeapKind, reader: ByteReader): HeapValue {
  switch (kind) {
    case 'hash':
      return HashValue.decode(reader)
    case 'list':
      return ListValue.decode(reader)
    case 'set':
      return SetValue.decode(reader)
    case 'zset':
      return ZsetValue.decode(reader)
    case 'stream':
      throw new FormatError('streams are not understood')
  }
}
