/** What the operator asked for cannot be; the message says what, and what is accepted. */
export class CannotStart extends Error {
  override name = 'CannotStart'
}

/** The value, or the end of the start where there is a problem instead. */
export function orCannotStart<T extends object>(
  value: T | { error: string } | { problem: string },
): T {
  if ('error' in value && typeof value.error === 'string') throw new CannotStart(value.error)
  if ('problem' in value && typeof value.problem === 'string') throw new CannotStart(value.problem)
  return value as T
}
