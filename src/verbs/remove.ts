/** Taking an object out of the store, once nothing holds it any longer. */
import type { KubeObject } from '#api/object-meta.ts'
import { type Answer, answerObject } from './answer.ts'
import { at, encode } from './commit.ts'
import { type Live, liveFromStored } from './current.ts'
import { keyOf, nameOf, type Server, type WriteRequest } from './server.ts'

/** The answer of the write that removed the last finalizer is the object as it would have been stored. */
export async function removeFinalized(
  server: Server,
  request: WriteRequest,
  next: KubeObject,
  live: Live,
): Promise<{ answer: Answer } | { current: Live | undefined }> {
  const { kind } = request.target
  const key = keyOf(kind, next.metadata.namespace ?? '', nameOf(next))
  const encoded = await encode(server, kind, next)
  if (!request.options.dryRun) {
    const outcome = await server.storage.delete(key, { ifRevision: live.revision })
    if (!outcome.ok && outcome.current !== undefined) {
      return { current: await liveFromStored(server, kind, outcome.current) }
    }
    const released = server.allocators.release(kind, live.object)
    if (released !== undefined) await released
  }
  return { answer: answerObject(200, kind, at(encoded.view, live.revision)) }
}
