/**
 * Deletes an object that cannot be read: no key decrypts it, or it is not valid. Preconditions,
 * finalizers, admission and other steps that need the object are skipped. An object that can be
 * read is never deleted this way.
 */
import { conflict, modified, notFound } from '#api/status-error.ts'
import type { Stored } from '#storage/storage.ts'
import type { Answer } from './answer.ts'
import { liveFromStored } from './current.ts'
import type { DeleteRequest } from './delete.ts'
import { keyOf, type Server } from './server.ts'
import { raceTriesMax } from './write-over.ts'

export async function removeUnreadable(server: Server, request: DeleteRequest): Promise<Answer> {
  const { target, deleteOptions, deadlineAt } = request
  const { kind, namespace, name } = target
  const key = keyOf(kind, namespace, name)
  for (let tries = 0; tries < raceTriesMax; tries++) {
    const { value } = await server.storage.get(key)
    if (value === undefined) throw notFound(kind, name)
    if (await isReadable(server, request, value)) throw conflict(kind, name, readableDetail(key))
    if (deleteOptions.dryRun) return success(request)
    const outcome = await server.storage.delete(key, { ifRevision: value.revision, deadlineAt })
    if (outcome.ok) return success(request)
  }
  throw conflict(kind, name, modified)
}

/** kube-apiserver's message for an object that can be read after all. */
const readableDetail = (key: string) =>
  `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`
const why = 'unsafe deletion is not allowed because the object is decodable from storage'

/** Any error during decoding counts, even a failed conversion. */
function isReadable(server: Server, { target }: DeleteRequest, stored: Stored): Promise<boolean> {
  return liveFromStored(server, target.kind, stored).then(
    () => true,
    () => false,
  )
}

const success = ({ target: { kind, name } }: DeleteRequest): Answer => ({
  is: 'value',
  status: 200,
  value: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, kind: kind.kind },
    code: 200,
  },
})
