/** DELETE of a collection: deletes each selected object separately. The deletion is not atomic. */
import type { ListOptions } from '#api/list-options.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError } from '#api/status-error.ts'
import { severalAtOnce } from '#base/several-at-once.ts'
import type { Answer } from './answer.ts'
import { type DeleteRequest, remove, warnOfPropagation } from './delete.ts'
import { list } from './list.ts'
import type { Server } from './server.ts'
import { shownObject } from './shown-object.ts'

/** Concurrent deletions: enough for a group commit, few enough to leave capacity for others. */
const usualDeletionsAtOnce = 32

const readsPages = change('a deletion of a collection lists its objects in pages', { since: 28 })

/** Larger than any collection: one page has all objects. */
const pageSizeMax = 2 ** 31 - 2

/** A list with a limit reads a requested resourceVersion exactly, not at least. */
const pageOf = (options: ListOptions, release: number): ListOptions =>
  releaseOf(release).has(readsPages) ? { ...options, limit: options.limit || pageSizeMax } : options

export async function deleteCollection(
  server: Server,
  request: DeleteRequest,
  options: ListOptions,
): Promise<Answer> {
  const { kind } = request.target
  warnOfPropagation(server, request)
  const found = await list(server, request.target, pageOf(options, server.release))
  if (found.is !== 'list') return found
  if (kind.resource.convertsElsewhere) {
    // If a webhook cannot convert one of the objects, no object is deleted.
    for (const entry of found.entries)
      await shownObject(server.parseStored, entry, kind, entry.revision)
  }
  const { uid, resourceVersion } = request.deleteOptions
  // With a uid or resourceVersion as precondition, or with webhooks, an error is likely. Delete one
  // object at a time, so that the others remain.
  const oneByOne = (uid ?? resourceVersion) !== undefined || server.admission.asksOthers
  const atOnce = server.deletionsAtOnce ?? (oneByOne ? 1 : usualDeletionsAtOnce)
  await severalAtOnce(found.entries, atOnce, async (entry) => {
    const target = { ...request.target, namespace: entry.namespace, name: entry.name }
    try {
      await remove(server, { ...request, target, ofCollection: true })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error
    }
  })
  return found
}
