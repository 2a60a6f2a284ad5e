/** What only we can get wrong. A failed assertion is a defect of the server, never of a request. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
