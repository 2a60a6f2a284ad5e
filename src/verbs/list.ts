/**
 * GET of a collection from the watch cache, or from the store if an exact older version is
 * requested.
 */
import type { ListOptions } from '#api/list-options.ts'
import { expired } from '#api/status-error.ts'
import type { Kind } from '#kinds/kind.ts'
import {
  amongOthers,
  type KeyRange,
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
  Unreadable,
} from '#storage/storage.ts'
import type { Entry } from '#watchcache/entry.ts'
import { entryMaker } from '#watchcache/entry-maker.ts'
import { type Picture, pictureOf, type ResourceCache } from '#watchcache/resource-cache.ts'
import type { Answer } from './answer.ts'
import { encodeContinue } from './continue-token.ts'
import {
  continueExpired,
  type Freshness,
  type ListPlan,
  livePicture,
  planList,
  reach,
  readsPastFromMemory,
  resourceExpired,
} from './read-at.ts'
import { type Selection, select } from './selection.ts'
import { keyOf, keysOf, type Server, type Target } from './server.ts'

/** One list request with its parsed parameters. */
interface Listing {
  readonly server: Server
  readonly target: Target
  readonly plan: ListPlan
  readonly selection: Selection
  /** The key range of its objects. */
  readonly range: KeyRange
  readonly revision: Revision
}

export async function list(server: Server, target: Target, options: ListOptions): Promise<Answer> {
  const { kind } = target
  const selection = select(
    kind,
    options.labelSelector,
    options.fieldSelector,
    target.name || undefined,
  )
  const remembered = server.readsFromMemory(kind.resource)
  const snapshots = server.feature(readsPastFromMemory)
  const plan = planList(options, server.release, remembered, snapshots)
  // Only a list that waits for the watch cache returns a retry delay.
  const retryAfter = plan.limit > 0 && !server.feature('ConsistentListFromCache') ? 0 : 1
  const reached = await reach(server, plan.freshness, retryAfter)
  const ready = await livePicture(server, kind)
  // The cache may have advanced after the wait, so the list uses its current revision.
  const revision =
    plan.freshness.want === 'exactly' ? reached : ready.revisionAt(server.cache.freshness.revision)
  const listing = {
    server,
    target,
    plan,
    selection,
    range: keysOf(kind, target.namespace),
    revision,
  }
  ready.requireReadableIn(listing.range)
  const shown =
    narrowed(listing, ready) ?? (await pictureAt(listing, ready, options.continueToken !== ''))
  const answer = page(listing, shown)
  if (answer.is === 'list' && selection.matches === undefined && revision >= ready.lastChange) {
    answer.itemsName = `${listing.range.start} ${plan.start} ${plan.limit} ${ready.id} ${ready.lastChange}`
  }
  return answer
}

/** Whether the selector names one object with a known key. */
const isOfOne = (
  { kind, namespace }: Target,
  selection: Selection,
): selection is Selection & { name: string } =>
  selection.name !== undefined && (namespace !== '' || !kind.namespaced)

const isRemembered = ({ readsFromMemory }: Server, { resource }: Kind, want: Freshness['want']) =>
  readsFromMemory(resource) || want === 'any'

/** The objects with the requested label, if the cache has an index of it and they fit the page. */
function narrowed(
  { server, target: { kind }, plan, selection: { label } }: Listing,
  cache: ResourceCache,
): Picture | undefined {
  const { want } = plan.freshness
  if (label === undefined || want === 'exactly' || !isRemembered(server, kind, want))
    return undefined
  return cache.labelled(label, plan.limit > 0 ? plan.limit : Number.POSITIVE_INFINITY)
}

async function pictureAt(
  listing: Listing,
  cache: ResourceCache,
  isNextPage: boolean,
): Promise<Picture> {
  const { server, target, plan, revision } = listing
  const fromMemory = isRemembered(server, target.kind, plan.freshness.want)
  if (fromMemory && plan.freshness.want !== 'exactly') {
    return plan.limit > 0 ? cache.snapshot(revision) : cache
  }
  // A revision that the store has compacted is not served from memory either. A token must expire
  // independently of other readers.
  const isInStore = revision >= server.storage.compactedUpTo()
  const kept = fromMemory && isInStore ? cache.snapshotAt(revision) : undefined
  if (kept !== undefined) return kept
  try {
    return await pastPicture(listing)
  } catch (error) {
    if (!(error instanceof RevisionCompacted || error instanceof RevisionInFuture)) throw error
    if (!isNextPage) throw resourceExpired()
    const refusal = expired(continueExpired)
    refusal.listMeta = { continue: encodeContinue({ start: plan.start, revision: -1 }) }
    throw refusal
  }
}

/** The key at which the page starts. */
const startOf = ({ range, plan }: Listing): string => range.start + plan.start.replace(/^\//, '')

/**
 * Reads the page from the store at the requested revision. Without a selector it reads only `limit
 * + 1` objects.
 */
async function pastPicture(listing: Listing): Promise<Picture> {
  const { server, target, plan, range, revision, selection } = listing
  const maker = entryMaker(target.kind.resource, server.parseStored)
  const isCut = plan.limit > 0 && selection.matches === undefined
  const { value } = await server.storage.list(
    { start: startOf(listing), end: range.end },
    { at: revision, ...(isCut && { limit: plan.limit + 1 }) },
  )
  const entries = value.items.map(({ key, bytes, revision: written }) => {
    try {
      return maker.make(key, written, bytes)
    } catch (error) {
      throw error instanceof Unreadable ? amongOthers(key, error) : error
    }
  })
  const picture = pictureOf(entries)
  return {
    visit: picture.visit,
    count: (start, end) => picture.count(start, end) + value.remaining,
  }
}

function page(listing: Listing, picture: Picture): Answer {
  const { server, target, plan, selection, range, revision } = listing
  const { kind } = target
  const entries: Entry[] = []
  let next: string | undefined
  const { matches } = selection
  let start = startOf(listing)
  let { end } = range
  if (isOfOne(target, selection) && plan.start === '') {
    start = keyOf(kind, target.namespace, selection.name)
    end = `${start}\0`
  }
  picture.visit(start, end, (entry) => {
    if (plan.limit > 0 && entries.length === plan.limit) {
      next = entry.key
      return false
    }
    if (matches === undefined || matches(entry)) entries.push(entry)
  })
  if (next === undefined) {
    return { is: 'list', kind, entries, revision, continueToken: '', remaining: undefined }
  }
  const last = entries[entries.length - 1].key
  const continueToken = encodeContinue({ start: `${last.slice(range.start.length)}\0`, revision })
  const counts = matches === undefined && server.feature('RemainingItemCount')
  const remaining = counts ? picture.count(next, end) : undefined
  return { is: 'list', kind, entries, revision, continueToken, remaining }
}
