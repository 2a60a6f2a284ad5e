/**
 * Determines the revision that a read requires, and waits for it: the matrices of the
 * specification, section 4.6.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { type ListOptions, parseResourceVersion, uncheckedVersion } from '#api/list-options.ts'
import { badRequest, expired, tooLargeResourceVersion } from '#api/status-error.ts'
import type { Awaitable } from '#base/awaitable.ts'
import type { Kind } from '#kinds/kind.ts'
import type { Revision } from '#storage/storage.ts'
import type { ResourceCache } from '#watchcache/resource-cache.ts'
import { decodeContinue } from './continue-token.ts'
import type { Server } from './server.ts'

/** The feature gate with which kube-apiserver serves lists of a past revision from memory. */
export const readsPastFromMemory = 'ListFromCacheSnapshot'

/** How long a read waits for a future revision. */
const freshnessWaitMsMax = 3000

export type Freshness =
  | { want: 'any' }
  | { want: 'latest' }
  | { want: 'not-older-than'; revision: Revision }
  | { want: 'exactly'; revision: Revision }

/** `isCached`: kube-apiserver reads the resource from its watch cache. */
export function freshnessOfGet(resourceVersion: string, isCached = true): Freshness {
  const revision = parseResourceVersion(resourceVersion, isCached ? uncheckedVersion : undefined)
  if (revision === undefined) return { want: 'latest' }
  return revision === 0 ? { want: 'any' } : { want: 'not-older-than', revision }
}

export interface ListPlan {
  readonly freshness: Freshness
  /** The page size; 0 means no limit. */
  readonly limit: number
  /** The relative key at which the page starts; empty for the first page. */
  readonly start: string
}

const checksVersionFirst = change(
  'a list with a continue token validates its resourceVersion too',
  { since: 19, until: 28 },
)

/**
 * `remembered`: the watch cache serves the newest objects. `snapshots`: it also serves past
 * revisions.
 */
export function planList(
  options: ListOptions,
  release: number,
  remembered = true,
  snapshots = false,
): ListPlan {
  const { limit, resourceVersionMatch: match, continueToken } = options
  const isUnread = continueToken !== '' && !releaseOf(release).has(checksVersionFirst)
  // Only the watch cache treats '0' as any version, even for paginated lists; it then returns all
  // objects.
  const isAny = remembered && options.resourceVersion === '0'
  const revision = isUnread ? undefined : parseResourceVersion(options.resourceVersion)
  if (continueToken !== '') {
    const point = decodeContinue(continueToken)
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    const freshness: Freshness =
      point.revision < 0 ? { want: 'latest' } : { want: 'exactly', revision: point.revision }
    return { freshness, limit: isAny && snapshots ? 0 : limit, start: point.start }
  }
  const isNewest = revision === 0 && limit > 0 && !isAny
  if (revision === undefined || isNewest) return { freshness: { want: 'latest' }, limit, start: '' }
  if (revision === 0) return { freshness: { want: 'any' }, limit: 0, start: '' }
  const exactly = match === 'Exact' || (match === '' && limit > 0)
  return {
    freshness: exactly ? { want: 'exactly', revision } : { want: 'not-older-than', revision },
    limit,
    start: '',
  }
}

/** Waits until the watch cache is fresh enough; returns its revision then. */
export async function reach(
  server: Server,
  freshness: Freshness,
  retryAfter = 1,
): Promise<Revision> {
  const { freshness: live } = server.cache
  switch (freshness.want) {
    case 'any':
      return live.revision
    case 'latest': {
      const current = server.storage.currentRevision()
      const newest = typeof current === 'number' ? current : await current
      await wait(server, newest, 1)
      return live.revision
    }
    case 'not-older-than':
      await wait(server, freshness.revision, retryAfter)
      return live.revision
    case 'exactly':
      await wait(server, freshness.revision, server.feature(readsPastFromMemory) ? 1 : 0)
      return freshness.revision
  }
}

/** The watch cache after a wait, because the one from before may have been replaced. */
export function livePicture(server: Server, kind: Kind): Awaitable<ResourceCache> {
  const picture = server.cache.of(kind.resource)
  return picture instanceof Promise ? picture.then(() => livePicture(server, kind)) : picture
}

async function wait(server: Server, revision: Revision, retryAfter: number): Promise<void> {
  const { freshness: live } = server.cache
  if (revision <= live.revision) return
  if (await live.reach(revision, freshnessWaitMsMax)) return
  throw tooLargeResourceVersion(revision, live.revision, retryAfter, server.release)
}

export const continueExpired =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

export const resourceExpired = () =>
  expired('The resourceVersion for the provided list is too old.')
