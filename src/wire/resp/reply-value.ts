/** What a reply is in JavaScript: the values that `ReplyParser` gives to clients. */
export type ReplyValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | RespError
  | ReplyValue[]
  | Map<ReplyValue, ReplyValue>
  | Set<ReplyValue>

/**
 * An error that the other side answered. It is a value, not an `Error`: it may be one of many in an
 * array, and capturing a stack for each would cost more than parsing it.
 */
export class RespError {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The first word: `ERR`, `MOVED`, `WRONGTYPE`. */
  get code(): string {
    const space = this.text.indexOf(' ')
    return space < 0 ? this.text : this.text.slice(0, space)
  }

  toString(): string {
    return this.text
  }
}

/** The other side does not speak the protocol, or exceeds a limit: the connection is of no more use. */
export class RespProtocolError extends Error {
  override readonly name = 'RespProtocolError'
}
