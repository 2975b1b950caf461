/** Messages that belong together, in a file of their own: which they are, and how they are written and read. */
import type { ByteReader, ByteWriter } from '../../core/bytes.js'

export interface Family<M extends { readonly kind: string }> {
  readonly kinds: readonly M['kind'][]
  encode(message: M, w: ByteWriter): void
  decode(kind: M['kind'], r: ByteReader): M
}
