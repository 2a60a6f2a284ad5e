/** Waits for a watch to start, but not longer than the timeout of the watch. */
import { ApiError } from '#api/status-error.ts'
import type { Watch } from '#verbs/watch.ts'

/** Resolves with the watch, or with the error that the client gets instead. */
export function startedWithin(
  timeoutMs: number,
  starting: Promise<Watch | ApiError>,
): Promise<Watch | ApiError> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      resolve(new ApiError(500, 'InternalError', 'context deadline exceeded'))
    }, timeoutMs)
    starting.then(
      (started) => {
        clearTimeout(timer)
        if (isLate && !(started instanceof ApiError)) started.stop()
        else resolve(started)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
