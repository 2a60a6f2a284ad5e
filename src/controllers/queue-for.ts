/** Creates the work queue of a controller. Its error reports contain the controller's name. */
import { ApiError } from '#api/status-error.ts'
import { WorkQueue, type WorkQueueOptions } from '#client/work-queue.ts'
import type { ControllerParts } from './controller.ts'

export const isMissing = (error: unknown) => error instanceof ApiError && error.code === 404
export const isConflict = (error: unknown) => error instanceof ApiError && error.code === 409
/** The namespace is going away. */
export const isTerminating = (error: unknown) =>
  error instanceof ApiError &&
  (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')

/** Many workers are useful: concurrent writes share one commit to disk. */
const workersUsually = 32

type QueueParts = Pick<ControllerParts, 'signal' | 'report' | 'queueMeter' | 'clock'>

export function queueFor(
  name: string,
  { signal, report, queueMeter, clock }: QueueParts,
  work: WorkQueueOptions['work'],
  options: Partial<WorkQueueOptions> = {},
): WorkQueue {
  return new WorkQueue({
    work,
    workersMax: workersUsually,
    signal,
    clock,
    meter: queueMeter?.(name),
    // Lost races are usual; other failures are logged once they last.
    report: (key, error, failures) => {
      if (isConflict(error) && failures < 5) return
      report(`${name}: ${key} failed; the controller tries again`, error)
    },
    ...options,
  })
}

/** Keys of namespaced objects are `namespace/name`. */
export function splitKey(key: string): [namespace: string, name: string] {
  const at = key.indexOf('/')
  return [key.slice(0, at), key.slice(at + 1)]
}

/**
 * A change of an object that may be deleted or recreated by now: then another client has handled
 * it.
 */
export async function unlessOvertaken(change: Promise<unknown>): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!isMissing(error) && !isConflict(error)) throw error
  }
}

/**
 * Waits for a create. Ignores that the object already exists, or that its namespace is missing or
 * terminating.
 */
export async function ignoreIfExistsOrTerminating(creation: Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (error) {
    // Other conflicts concern another object, such as a quota with concurrent updates.
    const isThere = error instanceof ApiError && error.reason === 'AlreadyExists'
    if (!isThere && !isMissing(error) && !isTerminating(error)) throw error
  }
}

/** The response. Undefined if the object does not exist. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
