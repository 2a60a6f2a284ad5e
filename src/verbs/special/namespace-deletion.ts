/**
 * DELETE of a namespace. The first request marks it as Terminating. A further request removes it
 * when the finalizers in its spec are removed. The namespace controller deletes its contents.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { conflict } from '#api/status-error.ts'
import { type Answer, answerObject } from '#verbs/answer.ts'
import { viewAt, encode } from '#verbs/commit.ts'
import { type DeleteRequest, remove } from '#verbs/delete.ts'
import type { Server } from '#verbs/server.ts'
import { deleteMarked } from './marked-deletion.ts'

const deletesAgain = change('a second deletion of a namespace returns the namespace', { since: 17 })
const beingEmptied =
  'The system is ensuring all content is removed from this namespace.  Upon completion, this namespace will automatically be purged by the system.'

export const deleteNamespace = (server: Server, request: DeleteRequest): Promise<Answer> =>
  deleteMarked(server, request, {
    mark(next) {
      next.status = { ...next.status, phase: 'Terminating' }
      setFinalizers(next, request)
    },
    async again({ object, revision }, onlyIt) {
      if ((object.spec?.finalizers?.length ?? 0) === 0) return remove(server, onlyIt)
      const { kind, name } = request.target
      if (!releaseOf(server.release).has(deletesAgain)) throw conflict(kind, name, beingEmptied)
      const { view } = await encode(server, kind, object)
      return answerObject(200, kind, viewAt(view, revision))
    },
  })

/**
 * Sets the finalizers `orphan` and `foregroundDeletion` as the options request; otherwise they are
 * unchanged.
 */
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
