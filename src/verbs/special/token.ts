/** The subresource serviceaccounts/token: issues a token for an account, signed and not stored. */
import { answerTokenRequest, checkTokenRequest } from '#access/token-request.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { serviceUnavailable } from '#api/status-error.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import type { Answer } from '#verbs/answer.ts'
import { conformAs } from '#verbs/decode.ts'
import type { Server, WriteRequest } from '#verbs/server.ts'
import { admitBody } from './admit.ts'
import { claimBody } from './body-owners.ts'

/** The default lifetime: an hour. */
const expirationSecondsDefault = 3600
const apiVersion = 'authentication.k8s.io/v1'
const checkedBeforeWebhooks = change('validating webhooks see only valid token requests', {
  since: 24,
})

export async function requestToken(server: Server, request: WriteRequest): Promise<Answer> {
  const { namespace, name } = request.target
  const { reader, feature, newUid } = server
  const { warnings, auditAnnotations } = request
  const release = releaseOf(server.release)
  const rules = { release, feature, newUid, warnings, auditAnnotations }
  const requested = conformAs(server, apiVersion, 'TokenRequest', request)
  const { mint, tokenRequests } = server.access
  fillInTokenRequest(requested)
  // As in kube-apiserver, admission plugins and webhooks see managedFields in the request, although
  // the object is not stored.
  claimBody(server, request, requested, { apiVersion, kind: 'TokenRequest' })
  const isCheckedFirst = release.has(checkedBeforeWebhooks)
  await admitBody(server, request, requested, name, async () => {
    fillInTokenRequest(requested)
    if (isCheckedFirst) await checkTokenRequest(requested, namespace, name, reader, rules)
  })
  if (mint === undefined) throw serviceUnavailable('this server has no key to sign tokens with')
  if (!isCheckedFirst) await checkTokenRequest(requested, namespace, name, reader, rules)
  const now = server.clock.now()
  const answered = await answerTokenRequest(
    requested,
    namespace,
    name,
    reader,
    mint,
    tokenRequests,
    now,
    rules,
  )
  const metadata = {
    ...unsetCreationTime(server.release),
    ...requested.metadata,
    ...answered.metadata,
  }
  return { is: 'value', status: 201, value: { ...requested, ...answered, metadata } as never }
}

export function fillInTokenRequest(requested: KubeObject): void {
  requested.spec ??= {}
  requested.spec.expirationSeconds ??= expirationSecondsDefault
}
