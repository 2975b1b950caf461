/**
 * Counts whole replies in a stream of bytes without making values of them: a generator that spends more on a reply than
 * the server would measure itself. One counter a protocol; each keeps its place between two pieces.
 */
export interface ReplyCounter {
  /** How many replies ended within these bytes. */
  push(bytes: Uint8Array, length: number): number
  /** Replies that say that something went wrong, and the first of them. */
  readonly errors: number
  readonly firstError: string
}

export type Protocol = 'resp' | 'memcached' | 'http'

export function createCounter(protocol: Protocol): ReplyCounter {
  if (protocol === 'resp') return new RespCounter()
  return protocol === 'memcached' ? new MemcachedCounter() : new HttpCounter()
}

const ERROR_LENGTH_MAX = 200
const LINE_LENGTH_MAX = 16_384
const [LF, CR, MINUS, ZERO, NINE, BULK, ARRAY] = [10, 13, 45, 48, 57, 36, 42]

const OK = Buffer.from('+OK\r\n')

class RespCounter implements ReplyCounter {
  errors = 0
  firstError = ''
  /** The first byte of the line we are in; 0 between two lines. */
  #kind = 0
  #number = 0
  #negative = false
  /** Bytes of a bulk string that are still to come. */
  #skip = 0
  /** Values until the reply is whole; an array takes one and adds its own. */
  #values = 1

  push(bytes: Uint8Array, length: number): number {
    let [at, done] = [0, 0]
    while (at < length) {
      if (this.#isPlainOk(bytes, at, length)) {
        at += OK.length
        done++
      } else if (this.#skip > 0) {
        const take = Math.min(this.#skip, length - at)
        this.#skip -= take
        at += take
        if (this.#skip === 0) done += this.#endValue(0)
      } else if (this.#kind === 0) {
        this.#kind = bytes[at++]
        this.#number = 0
        this.#negative = false
        if (this.#kind === MINUS) this.errors++
      } else {
        const byte = bytes[at++]
        if (byte === LF) done += this.#endLine()
        else this.#read(byte)
      }
    }
    return done
  }

  /** What most writes are answered, as a reply of its own and whole. */
  #isPlainOk(bytes: Uint8Array, at: number, length: number): boolean {
    if (this.#kind !== 0 || this.#skip > 0 || this.#values !== 1) return false
    if (length - at < OK.length) return false
    for (let i = 0; i < OK.length; i++) if (bytes[at + i] !== OK[i]) return false
    return true
  }

  #read(byte: number): void {
    if (byte >= ZERO && byte <= NINE) this.#number = this.#number * 10 + byte - ZERO
    else if (byte === MINUS) this.#negative = true
    if (this.#kind !== MINUS || this.errors > 1 || byte === CR) return
    if (this.firstError.length < ERROR_LENGTH_MAX) this.firstError += String.fromCharCode(byte)
  }

  #endLine(): number {
    const kind = this.#kind
    this.#kind = 0
    if (kind === BULK && !this.#negative) {
      this.#skip = this.#number + 2
      return 0
    }
    return this.#endValue(kind === ARRAY && !this.#negative ? this.#number : 0)
  }

  #endValue(more: number): number {
    this.#values += more - 1
    if (this.#values > 0) return 0
    this.#values = 1
    return 1
  }
}

/** Gathers lines for the protocols whose heads are texts. */
abstract class LineCounter implements ReplyCounter {
  errors = 0
  firstError = ''
  protected skip = 0
  #line = ''

  push(bytes: Uint8Array, length: number): number {
    let [at, done] = [0, 0]
    while (at < length) {
      if (this.skip > 0) {
        const take = Math.min(this.skip, length - at)
        this.skip -= take
        at += take
        if (this.skip === 0) done += this.endBody()
        continue
      }
      const end = bytes.indexOf(LF, at)
      const stop = end === -1 || end >= length ? length : end
      this.#line += String.fromCharCode(...bytes.subarray(at, stop))
      if (this.#line.length > LINE_LENGTH_MAX) throw new Error('a reply line without an end')
      at = stop + 1
      if (stop === length) break
      const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line
      this.#line = ''
      done += this.endLine(line)
    }
    return done
  }

  protected fail(text: string): void {
    if (this.errors++ === 0) this.firstError = text.slice(0, ERROR_LENGTH_MAX)
  }

  protected abstract endLine(line: string): number
  protected abstract endBody(): number
}

class MemcachedCounter extends LineCounter {
  protected override endLine(line: string): number {
    if (line.startsWith('VALUE ')) {
      this.skip = Number(line.slice(line.lastIndexOf(' ') + 1)) + 2
      return 0
    }
    if (line !== 'END' && line !== 'STORED') this.fail(line)
    return 1
  }

  /** A line `END` follows. */
  protected override endBody(): number {
    return 0
  }
}

class HttpCounter extends LineCounter {
  #status = 0
  #length = 0

  protected override endLine(line: string): number {
    if (this.#status === 0) {
      this.#status = Number(line.split(' ')[1])
      if (this.#status >= 300) this.fail(line)
      this.#length = 0
      return 0
    }
    if (line !== '') {
      const [name, value] = line.split(':')
      if (name.toLowerCase() === 'content-length') this.#length = Number(value)
      return 0
    }
    this.#status = 0
    this.skip = this.#length
    return this.skip === 0 ? 1 : 0
  }

  protected override endBody(): number {
    return 1
  }
}
