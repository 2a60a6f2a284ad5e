/**
 * DELETE of a definition: the first one marks it and holds it with a finalizer until all of its objects are gone, which
 * is the work of custom-resources/.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { conflict, modified, notFound } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import { type Answer, answerObject } from '#verbs/answer.ts'
import { at, encode, put } from '#verbs/commit.ts'
import { currentObject, type Live } from '#verbs/current.ts'
import { setCondition } from '#verbs/custom-resources/conditions.ts'
import { cleanupFinalizer } from '#verbs/custom-resources/finalize.ts'
import { admitDeletion, type DeleteRequest, onlyThis, remove } from '#verbs/delete.ts'
import { nameOf, type Server, timestamp } from '#verbs/server.ts'

const raceTriesMax = 20

export async function deleteDefinition(server: Server, request: DeleteRequest): Promise<Answer> {
  const { kind, name } = request.target
  for (let i = 0; i < raceTriesMax; i++) {
    const live = await currentObject(server, request.target)
    if (live === undefined) throw notFound(kind, name)
    requirePreconditions(request, live.object)
    if (live.object.metadata.deletionTimestamp !== undefined) return remove(server, request)
    const answer = await markLeaving(server, request, live)
    if (answer !== undefined) return answer
  }
  throw conflict(kind, name, modified)
}

async function markLeaving(
  server: Server,
  request: DeleteRequest,
  live: Live,
): Promise<Answer | undefined> {
  const { kind } = request.target
  await admitDeletion(server, onlyThis(request, live.object), live.object)
  const next = copyData(live.object)
  const now = timestamp(server.clock)
  next.metadata.deletionTimestamp = now
  const finalizers = next.metadata.finalizers ?? []
  if (!finalizers.includes(cleanupFinalizer))
    next.metadata.finalizers = [...finalizers, cleanupFinalizer]
  const pending = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message:
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  } as const
  setCondition(next, pending, now)
  const encoded = await encode(server, kind, next)
  if (request.deleteOptions.dryRun) return answerObject(200, kind, at(encoded.view, live.revision))
  const outcome = await put(server, kind, encoded, live.revision)
  return outcome.ok ? answerObject(200, kind, at(encoded.view, outcome.revision)) : undefined
}

function requirePreconditions({ deleteOptions, target }: DeleteRequest, object: KubeObject): void {
  const { uid, resourceVersion } = object.metadata
  const hold = (what: string, wanted: string | undefined, found: string | undefined) => {
    if (wanted === undefined || wanted === found) return
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`
    throw conflict(target.kind, nameOf(object), why)
  }
  hold('UID', deleteOptions.uid, uid)
  hold('ResourceVersion', deleteOptions.resourceVersion, resourceVersion)
}
