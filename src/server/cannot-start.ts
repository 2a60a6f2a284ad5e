/**
 * The error for a start that fails for a reason the operator can fix. One line states what is wrong
 * and what is accepted. Our own defects never use it: they print their stack.
 */
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

/**
 * The work's value. Readers of the operator's files throw plain errors that name the file, and
 * those end the start with their words; any other kind of error is the runtime's and stays what it
 * is.
 */
export async function orSayWhy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if ((error as Error)?.constructor !== Error) throw error
    throw new CannotStart((error as Error).message, { cause: error })
  }
}
