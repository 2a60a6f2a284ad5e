/**
 * DELETE of a namespace: the first one marks it Terminating, and only when the finalizers of its spec are gone does a
 * further one remove it. Emptying it is the namespace controller's work.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { conflict, modified, notFound } from '#api/status-error.ts'
import { copyData } from '#base/copy-data.ts'
import { type Answer, answerObject } from '#verbs/answer.ts'
import { at, encode, put } from '#verbs/commit.ts'
import { currentObject, type Live } from '#verbs/current.ts'
import { admitDeletion, type DeleteRequest, onlyThis, remove } from '#verbs/delete.ts'
import { nameOf, type Server, timestamp } from '#verbs/server.ts'

const raceTriesMax = 20

export async function deleteNamespace(server: Server, request: DeleteRequest): Promise<Answer> {
  const { kind, name } = request.target
  for (let i = 0; i < raceTriesMax; i++) {
    const live = await currentObject(server, request.target)
    if (live === undefined) throw notFound(kind, name)
    requirePreconditions(request, live.object)
    if (live.object.metadata.deletionTimestamp !== undefined) {
      if ((live.object.spec?.finalizers?.length ?? 0) === 0) return remove(server, request)
      const { view } = await encode(server, kind, live.object)
      return answerObject(200, kind, at(view, live.revision))
    }
    const answer = await markTerminating(server, request, live)
    if (answer !== undefined) return answer
  }
  throw conflict(kind, name, modified)
}

async function markTerminating(
  server: Server,
  request: DeleteRequest,
  live: Live,
): Promise<Answer | undefined> {
  const { kind } = request.target
  await admitDeletion(server, onlyThis(request, live.object), live.object)
  const next = copyData(live.object)
  next.metadata.deletionTimestamp = timestamp(server.clock)
  next.status = { ...next.status, phase: 'Terminating' }
  setFinalizers(next, request)
  const encoded = await encode(server, kind, next)
  if (request.deleteOptions.dryRun) return answerObject(200, kind, at(encoded.view, live.revision))
  const outcome = await put(server, kind, encoded, live.revision)
  return outcome.ok ? answerObject(200, kind, at(encoded.view, outcome.revision)) : undefined
}

function requirePreconditions({ deleteOptions, target }: DeleteRequest, object: KubeObject): void {
  const { uid, resourceVersion } = object.metadata
  const wrong = (what: string, wanted: string, found: string | undefined) =>
    conflict(
      target.kind,
      nameOf(object),
      `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
    )
  if (deleteOptions.uid !== undefined && deleteOptions.uid !== uid) {
    throw wrong('UID', deleteOptions.uid, uid)
  }
  if (
    deleteOptions.resourceVersion !== undefined &&
    deleteOptions.resourceVersion !== resourceVersion
  ) {
    throw wrong('ResourceVersion', deleteOptions.resourceVersion, resourceVersion)
  }
}

/** `orphan` and `foregroundDeletion`, as the options ask; what they do not mention stays. */
function setFinalizers(next: KubeObject, { deleteOptions }: DeleteRequest): void {
  const { orphanDependents, propagationPolicy } = deleteOptions
  if (orphanDependents === undefined && propagationPolicy === undefined) return
  const wanted = new Set(next.metadata.finalizers ?? [])
  const set = (name: string, there: boolean) => (there ? wanted.add(name) : wanted.delete(name))
  set('orphan', orphanDependents ?? propagationPolicy === 'Orphan')
  set(
    'foregroundDeletion',
    orphanDependents === undefined ? propagationPolicy === 'Foreground' : !orphanDependents,
  )
  if (wanted.size === 0) delete next.metadata.finalizers
  else next.metadata.finalizers = [...wanted]
}
