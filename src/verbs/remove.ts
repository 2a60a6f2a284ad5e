/** Removes an object from the store when nothing holds it any more. */
import type { KubeObject } from '#api/object-meta.ts'
import { encodeCut } from '#codec/cut-object.ts'
import type { Kind } from '#kinds/kind.ts'
import { type Answer, answerObject, type ObjectView } from './answer.ts'
import { viewAt, encode } from './commit.ts'
import { type Live, liveFromStored } from './current.ts'
import { keyOf, nameOf, type Server, type WriteRequest } from './server.ts'

/**
 * A webhook would have to convert the object for the store, but it was not stored; return it
 * unconverted.
 */
async function lastView(server: Server, kind: Kind, object: KubeObject): Promise<ObjectView> {
  if (!kind.resource.convertsElsewhere) return (await encode(server, kind, object)).view
  const { namespace = '', name = '' } = object.metadata
  delete object.metadata.resourceVersion
  const { apiVersion } = kind
  return { cut: encodeCut(object), namespace, name, apiVersion, revision: undefined }
}

/** The write that removed the last finalizer returns the object as it would have been stored. */
export async function removeFinalized(
  server: Server,
  request: WriteRequest,
  next: KubeObject,
  live: Live,
): Promise<{ answer: Answer } | { current: Live | undefined }> {
  const { kind } = request.target
  const key = keyOf(kind, next.metadata.namespace ?? '', nameOf(next))
  const view = await lastView(server, kind, next)
  if (!request.options.dryRun) {
    const outcome = await server.storage.delete(key, {
      ifRevision: live.revision,
      deadlineAt: request.deadlineAt,
    })
    if (!outcome.ok && outcome.current !== undefined) {
      return { current: await liveFromStored(server, kind, outcome.current) }
    }
    await server.allocators.release(kind, live.object)
  }
  return { answer: answerObject(200, kind, viewAt(view, live.revision)) }
}
