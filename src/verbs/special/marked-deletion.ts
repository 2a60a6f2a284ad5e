/**
 * DELETE of a namespace or a CustomResourceDefinition, which a controller must empty first. The
 * first request marks the object; a later one removes it. The kind defines the mark and the
 * response for an object that is already marked.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { conflict, modified, notFound, preconditionFailed } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import { type Answer, answerObject } from '#verbs/answer.ts'
import { viewAt, encode, put } from '#verbs/commit.ts'
import { currentObject, type Live } from '#verbs/current.ts'
import { admitDeletion, type DeleteRequest, onlyThis } from '#verbs/delete.ts'
import { nameOf, type Server, timestamp } from '#verbs/server.ts'
import { raceTriesMax } from '#verbs/write-over.ts'

export interface Marking {
  /** Sets the kind's mark, in addition to the deletion time. */
  mark(next: KubeObject, now: string): void
  /**
   * Handles a further deletion of a marked object. `onlyIt` is the request restricted to the uid of
   * this object.
   */
  again(live: Live, onlyIt: DeleteRequest): Promise<Answer>
}

export async function deleteMarked(
  server: Server,
  request: DeleteRequest,
  marking: Marking,
): Promise<Answer> {
  const { kind, name } = request.target
  for (let i = 0; i < raceTriesMax; i++) {
    const live = await currentObject(server, request.target)
    if (live === undefined) throw notFound(kind, name)
    requirePreconditions(request, live.object)
    if (live.object.metadata.deletionTimestamp !== undefined)
      return marking.again(live, onlyThis(request, live.object))
    const answer = await markOnce(server, request, marking, live)
    if (answer !== undefined) return answer
  }
  throw conflict(kind, name, modified)
}

/** Undefined if another writer changed the object meanwhile. */
async function markOnce(
  server: Server,
  request: DeleteRequest,
  marking: Marking,
  live: Live,
): Promise<Answer | undefined> {
  const { kind } = request.target
  await admitDeletion(server, onlyThis(request, live.object), live.object)
  const next = copyData(live.object)
  const now = timestamp(server.clock)
  next.metadata.deletionTimestamp = now
  marking.mark(next, now)
  const encoded = await encode(server, kind, next)
  if (request.deleteOptions.dryRun)
    return answerObject(200, kind, viewAt(encoded.view, live.revision))
  const outcome = await put(server, kind, encoded, live.revision, request)
  return outcome.ok ? answerObject(200, kind, viewAt(encoded.view, outcome.revision)) : undefined
}

function requirePreconditions({ deleteOptions, target }: DeleteRequest, object: KubeObject): void {
  const { uid, resourceVersion } = object.metadata
  const hold = (what: 'UID' | 'ResourceVersion', wanted?: string, found?: string) => {
    if (wanted === undefined || wanted === found) return
    throw conflict(target.kind, nameOf(object), preconditionFailed(what, wanted, found))
  }
  hold('UID', deleteOptions.uid, uid)
  hold('ResourceVersion', deleteOptions.resourceVersion, resourceVersion)
}
