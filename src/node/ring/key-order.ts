/**
 * All keys of a node in the order of their bytes, for range scans. A list of short sorted lists: a search is two
 * binary searches, an insertion moves some hundred references, and a scan needs nothing but the last key it saw.
 * Keys are binary strings, one character a byte, which compare as their bytes do.
 */
const PIECE_MAX = 512

export class KeyOrder {
  #pieces: string[][] = []
  size = 0

  add(key: string): void {
    if (this.#pieces.length === 0) this.#pieces.push([])
    const at = this.#pieceOf(key)
    const piece = this.#pieces[at]
    const place = lowerBound(piece, key)
    if (piece[place] === key) return
    piece.splice(place, 0, key)
    this.size++
    if (piece.length > PIECE_MAX) this.#pieces.splice(at + 1, 0, piece.splice(PIECE_MAX >> 1))
  }

  remove(key: string): void {
    if (this.#pieces.length === 0) return
    const at = this.#pieceOf(key)
    const piece = this.#pieces[at]
    const place = lowerBound(piece, key)
    if (piece[place] !== key) return
    piece.splice(place, 1)
    this.size--
    if (piece.length === 0) this.#pieces.splice(at, 1)
  }

  /** Visits keys from `start` on, until `visit` answers false. */
  walk(start: string, visit: (key: string) => boolean): void {
    if (this.#pieces.length === 0) return
    let at = this.#pieceOf(start)
    let place = lowerBound(this.#pieces[at], start)
    for (; at < this.#pieces.length; at++, place = 0) {
      const piece = this.#pieces[at]
      for (; place < piece.length; place++) if (!visit(piece[place])) return
    }
  }

  /** The last piece that does not begin behind the key. */
  #pieceOf(key: string): number {
    let [low, high] = [0, this.#pieces.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#pieces[middle][0] <= key) low = middle
      else high = middle - 1
    }
    return low
  }
}

function lowerBound(piece: readonly string[], key: string): number {
  let [low, high] = [0, piece.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (piece[middle] < key) low = middle + 1
    else high = middle
  }
  return low
}
