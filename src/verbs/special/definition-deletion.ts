/**
 * DELETE of a definition. The first request marks it and adds a finalizer. custom-resources/
 * deletes all instances and then removes the finalizer.
 */
import type { Answer } from '#verbs/answer.ts'
import { setCondition } from '#verbs/custom-resources/conditions.ts'
import { cleanupFinalizer } from '#verbs/custom-resources/finalize.ts'
import { type DeleteRequest, remove } from '#verbs/delete.ts'
import type { Server } from '#verbs/server.ts'
import { deleteMarked } from './marked-deletion.ts'

const pending = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const

export const deleteDefinition = (server: Server, request: DeleteRequest): Promise<Answer> =>
  deleteMarked(server, request, {
    mark(next, now) {
      const finalizers = next.metadata.finalizers ?? []
      if (!finalizers.includes(cleanupFinalizer))
        next.metadata.finalizers = [...finalizers, cleanupFinalizer]
      setCondition(next, pending, now)
    },
    again: (_live, onlyIt) => remove(server, onlyIt),
  })
