/** What only we can get wrong. A failed assertion is a defect of the server, never of a request. */

/**
 * A class of its own: a caller cannot confuse it with the plain error that a reader of user input
 * throws.
 */
class Defect extends Error {}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Defect(`assertion failed: ${message}`)
}
