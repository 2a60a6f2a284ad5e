/** GET of a collection: entries of the live picture, or of the past where a version is asked for exactly. */
import type { ListOptions } from '#api/list-options.ts'
import { expired } from '#api/status-error.ts'
import type { SortedSnapshot } from '#base/sorted-map.ts'
import {
  prefixRange,
  type Revision,
  RevisionCompacted,
  RevisionInFuture,
} from '#storage/storage.ts'
import type { Entry } from '#watchcache/entry.ts'
import { entryMaker } from '#watchcache/entry-maker.ts'
import { type Picture, pictureOf, type ResourceCache } from '#watchcache/resource-cache.ts'
import type { Answer } from './answer.ts'
import { encodeContinue } from './continue-token.ts'
import { continueExpired, type ListPlan, planList, reach, resourceExpired } from './read-at.ts'
import { type Selection, select } from './selection.ts'
import { keyOf, type Server, type Target } from './server.ts'

export async function list(server: Server, target: Target, options: ListOptions): Promise<Answer> {
  const { kind } = target
  const selection = select(
    kind,
    options.labelSelector,
    options.fieldSelector,
    target.name || undefined,
  )
  const plan = planList(options, server.release)
  const cache = server.cache.of(kind.resource)
  const ready = cache instanceof Promise ? await cache : cache
  const retryAfter = plan.limit > 0 ? 0 : 1
  const reached = await reach(server, plan.freshness, retryAfter)
  // The picture may have moved on while the wait was over; what it is now is what is taken.
  const revision =
    plan.freshness.want === 'exactly' ? reached : ready.revisionAt(server.cache.freshness.revision)
  const picture =
    narrowed(server, ready, plan, selection) ??
    (await pictureAt(server, ready, plan, revision, options, target))
  const answer = page(server, target, picture, plan, selection, revision)
  if (answer.is === 'list' && selection.matches === undefined && revision >= ready.lastChange) {
    answer.itemsName = `${rangeOf(target).start} ${plan.start} ${plan.limit} ${ready.lastChange}`
  }
  return answer
}

/** The few objects with the label that is asked for, where they are known and fit the page. */
function narrowed(
  server: Server,
  cache: ResourceCache,
  plan: ListPlan,
  { label }: Selection,
): Picture | undefined {
  const { want } = plan.freshness
  if (label === undefined || want === 'exactly' || !(server.readsFromMemory || want === 'any'))
    return undefined
  return cache.labelled(label, plan.limit > 0 ? plan.limit : Number.POSITIVE_INFINITY)
}

async function pictureAt(
  server: Server,
  cache: ResourceCache,
  plan: ListPlan,
  revision: Revision,
  options: ListOptions,
  target: Target,
): Promise<Picture> {
  const fromMemory = server.readsFromMemory || plan.freshness.want === 'any'
  if (fromMemory && plan.freshness.want !== 'exactly') {
    return plan.limit > 0 ? cache.snapshot(revision) : cache
  }
  const kept: SortedSnapshot<Entry> | undefined = fromMemory
    ? cache.snapshotAt(revision)
    : undefined
  if (kept !== undefined) return kept
  try {
    return await pastPicture(server, target, revision)
  } catch (error) {
    if (!(error instanceof RevisionCompacted || error instanceof RevisionInFuture)) throw error
    if (options.continueToken === '') throw resourceExpired()
    const refusal = expired(continueExpired)
    refusal.listMeta = { continue: encodeContinue({ start: plan.start, revision: -1 }) }
    throw refusal
  }
}

/** The range as the store still has it at that revision. */
async function pastPicture(server: Server, target: Target, revision: Revision): Promise<Picture> {
  const { kind } = target
  const maker = entryMaker(kind.resource, server.parseStored)
  const { value } = await server.storage.list(rangeOf(target), { at: revision })
  const entries = value.items.map(({ key, bytes, revision: written }) =>
    maker.make(key, written, bytes),
  )
  return pictureOf(entries)
}

function rangeOf({ kind, namespace }: Target) {
  const { storagePrefix } = kind.resource
  const prefix =
    kind.namespaced && namespace !== '' ? `${storagePrefix}/${namespace}/` : `${storagePrefix}/`
  return prefixRange(prefix)
}

function page(
  server: Server,
  target: Target,
  picture: Picture,
  plan: ListPlan,
  selection: Selection,
  revision: Revision,
): Answer {
  const { kind } = target
  const range = rangeOf(target)
  const entries: Entry[] = []
  let next: string | undefined
  const { matches } = selection
  let { start, end } = range
  if (plan.start !== '') start = range.start + plan.start.replace(/^\//, '')
  if (
    selection.name !== undefined &&
    (target.namespace !== '' || !kind.namespaced) &&
    plan.start === ''
  ) {
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
