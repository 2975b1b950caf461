/** What a source answered cannot be trusted: nothing is decided on it, and its one line is shown. */
export class FactsError extends Error {
  override readonly name = 'FactsError'
}
