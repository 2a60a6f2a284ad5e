/** Assertions. A failed assertion is a defect of the server, never of a request. */

/**
 * A separate class, so that callers cannot confuse it with the plain errors that parsers of user
 * input throw.
 */
class Defect extends Error {}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Defect(`assertion failed: ${message}`)
}
