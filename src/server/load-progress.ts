/**
 * Logs the progress of a long load. The first request for a kind waits until all its objects are in
 * memory. A short load logs nothing.
 */
import { qualified } from '#api/status-error.ts'
import type { Resource } from '#kinds/kind.ts'
import type { Log } from '#observe/log.ts'

/** Usually enough for a hundred thousand small objects. */
const firstAfterMs = 2000
const everyMs = 5000

export type LoadProgress = (
  resource: Pick<Resource, 'group' | 'plural'>,
  done: number,
  total: number,
) => void

export function loadProgress(
  log: Pick<Log, 'info'>,
  now: () => number = () => performance.now(),
): LoadProgress {
  const loads = new Map<string, { nextAt: number; isShown: boolean }>()
  return ({ group, plural }, done, total) => {
    const name = qualified(plural, group)
    const load = loads.get(name) ?? { nextAt: now() + firstAfterMs, isShown: false }
    if (done >= total) {
      loads.delete(name)
      if (load.isShown) log.info(`loaded ${name} into memory: ${total} objects`)
      return
    }
    loads.set(name, load)
    if (now() < load.nextAt) return
    load.nextAt = now() + everyMs
    load.isShown = true
    log.info(`loading ${name} into memory: ${done} of ${total} objects`)
  }
}
