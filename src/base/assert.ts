/** What only we can get wrong. A failed assertion is a defect of the server, never of a request. */

/** A kind of its own: nobody takes it for the plain error that a reader of someone's file throws. */
class Defect extends Error {}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Defect(`assertion failed: ${message}`)
}
