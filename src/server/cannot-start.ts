/**
 * An error that prevents the start and that the operator can fix. Its single line states the
 * problem and the accepted values. Internal errors never use this class: they print their stack.
 */
export class CannotStart extends Error {
  override name = 'CannotStart'
}

/** Returns the value, or throws CannotStart if there is a problem. */
export function orCannotStart<T extends object>(
  value: T | { error: string } | { problem: string },
): T {
  if ('error' in value && typeof value.error === 'string') throw new CannotStart(value.error)
  if ('problem' in value && typeof value.problem === 'string') throw new CannotStart(value.problem)
  return value as T
}

/**
 * Converts plain errors of a promise into CannotStart. Readers of the operator's files throw plain
 * errors that name the file. All other error classes are defects and pass through unchanged.
 */
export async function orThrowCannotStart<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if ((error as Error)?.constructor !== Error) throw error
    throw new CannotStart((error as Error).message, { cause: error })
  }
}
