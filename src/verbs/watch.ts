/**
 * GET with watch=1: determines the start of a watch, its initial events and its queue.
 * http/watch-stream.ts writes the events to the client.
 */
import { type ListOptions, parseResourceVersion, uncheckedVersion } from '#api/list-options.ts'
import { expired } from '#api/status-error.ts'
import type { Revision } from '#storage/storage.ts'
import type { CatchUp } from '#watchcache/catch-up.ts'
import type { Entry } from '#watchcache/entry.ts'
import { Watcher, watcherQueueLengthMax } from '#watchcache/watcher.ts'
import type { Kind } from '#kinds/kind.ts'
import { livePicture, reach } from './read-at.ts'
import { select } from './selection.ts'
import { keysOf, type Server, type Target } from './server.ts'

export interface Watch {
  readonly kind: Kind
  /** Existing objects, which the client gets first as ADDED events. */
  readonly initial: readonly Entry[]
  readonly watcher: Watcher
  readonly bookmarks: boolean
  /** The revision of `initial`; set if the client requested a bookmark after the initial events. */
  readonly initialEnd?: Revision | undefined
  readonly timeoutSeconds: number | undefined
  /**
   * The newest revision up to which the watch has received all events. Delivers pending changes
   * first.
   */
  progress(): Revision
  /** Ends the subscription; must be called exactly once. */
  stop(): void
}

/** The server's own watches get changes immediately, those of clients at the end of the turn. */
export async function watch(
  server: Server,
  target: Target,
  options: ListOptions,
  notifiesAtOnce = false,
): Promise<Watch> {
  const { kind, namespace } = target
  const { matches, label } = select(
    kind,
    options.labelSelector,
    options.fieldSelector,
    target.name || undefined,
  )
  const from = parseResourceVersion(options.resourceVersion, uncheckedVersion)
  const { sendInitialEvents = from === undefined || from === 0 } = options
  if (from === undefined) await reach(server, { want: 'latest' })
  else if (sendInitialEvents) await reach(server, { want: 'not-older-than', revision: from })
  const ready = await livePicture(server, kind)
  // Check only now, because the store may have been reset while the cache was loaded.
  if (from !== undefined && server.cache.isUndone(from))
    throw expired(`too old resource version: ${from} (${server.cache.freshness.revision})`)
  const range = keysOf(kind, namespace)
  ready.requireReadableIn(range)
  const watcher = new Watcher(kind.namespaced ? namespace : '', matches)
  const initial: Entry[] = []
  let past: CatchUp | undefined
  const shown = ready.revisionAt(server.cache.freshness.revision)
  if (sendInitialEvents) {
    const some = label && ready.labelled(label, Number.POSITIVE_INFINITY)
    const objects = some ?? ready
    objects.visit(range.start, range.end, (entry) => {
      if (matches === undefined || matches(entry)) initial.push(entry)
    })
  } else if (from !== undefined && from !== 0) {
    const missed = ready.history.after(from)
    // The history in memory does not reach back to `from`, or too many events are missed: read the
    // store's history.
    if (missed === undefined || missed.length > watcherQueueLengthMax) {
      // The store also has changes from before the current definition of the resource.
      const beforeDefined = !server.readsFromMemory(kind.resource)
      past = await server.cache.catchUp(ready, watcher, from, beforeDefined)
      if (past === undefined)
        throw expired(`too old resource version: ${from} (${ready.history.startsAfter})`)
    } else watcher.receive(missed)
  }
  // `from` is a future revision: changes up to it are not sent.
  const isAhead = from !== undefined && from > server.cache.freshness.revision
  const subscriber = notifiesAtOnce ? watcher : watcher.inBatches()
  const counted = isAhead ? watcher.since(from) : subscriber
  if (past === undefined) ready.fanOut.add(counted)
  const bookmarks = options.allowWatchBookmarks && server.feature('WatchBookmark')
  return {
    kind,
    initial,
    watcher,
    bookmarks,
    initialEnd: bookmarks && options.sendInitialEvents ? shown : undefined,
    timeoutSeconds: options.timeoutSeconds,
    progress() {
      ready.fanOut.deliverPending()
      return past?.progress ?? Math.max(server.cache.freshness.revision, from ?? 0)
    },
    stop() {
      past?.stop()
      ready.fanOut.remove(counted)
      watcher.end()
    },
  }
}
