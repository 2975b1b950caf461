/**
 * Assertions stay on in production: a node that no longer trusts its own state must stop, because
 * its copies elsewhere are worth more than its next answer.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}
