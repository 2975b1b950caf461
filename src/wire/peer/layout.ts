/**
 * How an object lies in bytes, said once: a list of pieces, each a field with its part or several fields that share
 * bytes. What is written and what is read follow the same list.
 */
import { FormatError, type ByteReader, type ByteWriter } from '../../core/bytes.js'

/** How a value is written, and how it is read. */
export interface Part<T> {
  write(value: T, w: ByteWriter): void
  read(r: ByteReader): T
}

/** An object while it is being read. */
export type Draft<M> = { -readonly [F in keyof M]?: M[F] }

export interface Piece<M> {
  write(message: M, w: ByteWriter): void
  read(r: ByteReader, into: Draft<M>): void
}

export function field<F extends string, T>(name: F, part: Part<T>): Piece<Record<F, T>> {
  return {
    write: (message, w) => part.write(message[name], w),
    read: (r, into) => {
      into[name] = part.read(r)
    }
  }
}

/** Up to two truths in one byte. */
export const flags: Part<readonly [boolean, boolean]> = {
  write: ([first, second], w) => w.u8((first ? 1 : 0) | (second ? 2 : 0)),
  read: (r) => {
    const byte = r.u8()
    if (byte > 3) throw new FormatError(`not flags: ${byte}`)
    return [(byte & 1) !== 0, (byte & 2) !== 0]
  }
}

export function truths<F extends string>(first: F, second?: F): Piece<Record<F, boolean>> {
  return {
    write: (message, w) =>
      flags.write([message[first], second !== undefined && message[second]], w),
    read: (r, into) => {
      const [one, two] = flags.read(r)
      into[first] = one
      if (second !== undefined) into[second] = two
    }
  }
}

export function writePieces<M>(pieces: readonly Piece<M>[], message: M, w: ByteWriter): void {
  for (const piece of pieces) piece.write(message, w)
}

/** `draft` has what the bytes do not say. */
export function readPieces<M>(pieces: readonly Piece<M>[], draft: Draft<M>, r: ByteReader): M {
  for (const piece of pieces) piece.read(r, draft)
  return draft as M
}
