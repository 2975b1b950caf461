/**
 * Assertions stay on in production: a node that no longer trusts its own state must stop, because
 * its copies elsewhere are worth more than its next answer.
 */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** For where a message made for nothing would cost more than the question: `if (wrong) fail(...)`. */
export function fail(message: string): never {
  throw new AssertionError(message)
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}
