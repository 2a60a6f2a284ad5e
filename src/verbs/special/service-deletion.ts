/**
 * DELETE of a service deletes the endpoints of the same name too, of any writer, even if finalizers
 * hold the service. The endpoints need no authorization.
 */
import { ApiError } from '#api/status-error.ts'
import type { Answer } from '#verbs/answer.ts'
import { type DeleteRequest, remove } from '#verbs/delete.ts'
import { deleteOptionsFrom } from '#verbs/delete-options.ts'
import type { Server } from '#verbs/server.ts'
import { afterAdmission } from './admit.ts'

export async function deleteService(server: Server, request: DeleteRequest): Promise<Answer> {
  const answer = await remove(server, request)
  const endpoints = server.catalog.find('', 'v1', 'endpoints')
  if (endpoints === undefined || request.deleteOptions.dryRun) return answer
  try {
    await remove(afterAdmission(server), {
      ...request,
      target: { ...request.target, kind: endpoints },
      deleteOptions: deleteOptionsFrom({}, server.release),
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error
  }
  return answer
}
