/**
 * DELETE of a service takes the endpoints of the same name along, whoever made them; where finalizers hold the service, too.
 * Nobody is asked whether the endpoints may go.
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
