/**
 * Compacts the store periodically, up to the revision of one interval ago. Several servers may
 * compact one store; the later one has nothing to do.
 */
import { timerMsMax } from '#base/clock.ts'
import type { Revision, Storage } from '#storage/storage.ts'

export interface Compaction {
  stop(): void
}

/** With `intervalMs` 0 the history is never compacted. */
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
      // Advance the mark even after a failure. If the store was restored to an older state, it
      // would take long to reach the old mark.
      mark = now
      if (upTo === undefined || upTo === 0) return
      await storage.compact(upTo)
      compacted(upTo)
    } catch (error) {
      report('the history of the store could not be compacted; the server tries again', error)
    }
  }
  // A timer cannot wait for a very long interval, so it waits several times.
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
