/**
 * Authorizes the deletion of an object that cannot be read. It needs a separate permission and gets
 * an audit annotation.
 */
import { forbiddenRequest } from '#api/status-error.ts'
import type { Exchange } from '#http/exchange.ts'
import { attributesOf } from '#http/filters/authorize.ts'
import type { HttpParts } from '#http/parts.ts'

const verb = 'unsafe-delete-ignore-read-errors'

export async function authorizeUnsafeDeletion(
  { target, user, auditAnnotations }: Exchange,
  { authorizer }: HttpParts,
): Promise<void> {
  auditAnnotations.set('apiserver.k8s.io/unsafe-delete-ignore-read-error', '')
  const forbidden = (why: string) =>
    forbiddenRequest({ group: target.group, plural: target.resource }, target.name, why)
  if (target.subresource !== '') throw forbidden(notOfSubresources)
  const attributes = attributesOf({ ...target, verb }, user)
  const { decision, reason } = await authorizer.authorize(attributes)
  if (decision !== 'allow') throw forbidden(`not permitted to do "${verb}", reason: ${reason}`)
}

const notOfSubresources =
  'ignoreStoreReadErrorWithClusterBreakingPotential delete option is not allowed on a subresource or non-resource request'
