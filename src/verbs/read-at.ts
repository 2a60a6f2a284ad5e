/**
 * Determines the revision that a read requires, and waits for it: the matrices of the
 * specification, section 4.6.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { type ListOptions, parseResourceVersion, uncheckedVersion } from '#api/list-options.ts'
import { badRequest, expired, tooLargeResourceVersion } from '#api/status-error.ts'
import { after, type Awaitable } from '#base/awaitable.ts'
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

/**
 * Waits until the watch cache is fresh enough; returns its revision then. With a local store this
 * is usually synchronous: the newest revision is known and the cache has reached it.
 */
export function reach(server: Server, freshness: Freshness, retryAfter = 1): Awaitable<Revision> {
  const { freshness: live } = server.cache
  switch (freshness.want) {
    case 'any':
      return live.revision
    case 'latest':
      return after(server.storage.currentRevision(), (newest) => wait(server, newest, 1))
    case 'not-older-than':
      return wait(server, freshness.revision, retryAfter)
    case 'exactly': {
      const { revision } = freshness
      const isRetryable = server.feature(readsPastFromMemory)
      return after(wait(server, revision, isRetryable ? 1 : 0), () => revision)
    }
  }
}

/** The watch cache after a wait, because the one from before may have been replaced. */
export function livePicture(server: Server, kind: Kind): Awaitable<ResourceCache> {
  const picture = server.cache.of(kind.resource)
  return picture instanceof Promise ? picture.then(() => livePicture(server, kind)) : picture
}

function wait(server: Server, revision: Revision, retryAfter: number): Awaitable<Revision> {
  const { freshness: live } = server.cache
  return after(live.reach(revision, freshnessWaitMsMax), (isReached) => {
    if (isReached) return live.revision
    throw tooLargeResourceVersion(revision, live.revision, retryAfter, server.release)
  })
}

export const continueExpired =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

export const resourceExpired = () =>
  expired('The resourceVersion for the provided list is too old.')
