/**
 * History is kept for an interval and then forgotten: every so often the store is compacted up to
 * where it was one interval ago. Several servers on one store may do it; the later one finds
 * nothing to do.
 */
import { timerMsMax } from '#base/clock.ts'
import type { Revision, Storage } from '#storage/storage.ts'

export interface Compaction {
  stop(): void
}

/** `intervalMs` 0 keeps history for ever. */
export function compactRegularly(
  storage: Storage,
  intervalMs: number,
  report: (message: string, error: unknown) => void,
  compacted: (upTo: Revision) => void = () => {},
): Compaction {
  if (intervalMs <= 0) return { stop() {} }
  let mark: Revision | undefined
  const turn = async () => {
    try {
      const now = await storage.currentRevision()
      const upTo = mark
      // Also where it fails: a store that was set back does not come to the old mark for a long
      // time.
      mark = now
      if (upTo === undefined || upTo === 0) return
      await storage.compact(upTo)
      compacted(upTo)
    } catch (error) {
      report('the history of the store could not be compacted; it is tried again', error)
    }
  }
  // An interval that is too long for a timer is waited for in several.
  const parts = Math.ceil(intervalMs / timerMsMax)
  let waited = 0
  const timer = setInterval(() => {
    waited++
    if (waited % parts === 0) void turn()
  }, intervalMs / parts)
  timer.unref()
  void turn()
  return { stop: () => clearInterval(timer) }
}
