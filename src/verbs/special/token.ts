/** serviceaccounts/token: a fresh token for an account, signed and not stored. */
import { answerTokenRequest, checkTokenRequest } from '#access/token-request.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { serviceUnavailable } from '#api/status-error.ts'
import { unsetCreationTime } from '#api/unset-creation-time.ts'
import type { Answer } from '#verbs/answer.ts'
import { conformAs } from '#verbs/decode.ts'
import type { Server, WriteRequest } from '#verbs/server.ts'
import { admitBody } from './admit.ts'
import { claimBody } from './body-owners.ts'

/** An hour, where nothing is asked for. */
const expirationSecondsDefault = 3600
const apiVersion = 'authentication.k8s.io/v1'

export async function requestToken(server: Server, request: WriteRequest): Promise<Answer> {
  const { namespace, name } = request.target
  const asked = conformAs(server, apiVersion, 'TokenRequest', request)
  fillInTokenRequest(asked)
  // What was asked for is its writer's, though nothing is stored.
  claimBody(server, request, asked, { apiVersion, kind: 'TokenRequest' })
  await admitBody(server, request, asked, name, () => fillInTokenRequest(asked))
  const { mint, tokenRequests } = server.access
  if (mint === undefined) throw serviceUnavailable('this server has no key to sign tokens with')
  checkTokenRequest(asked)
  const now = server.clock.now()
  const answered = await answerTokenRequest(
    asked,
    namespace,
    name,
    server.reader,
    mint,
    tokenRequests,
    now,
  )
  const metadata = { ...unsetCreationTime(server.release), ...asked.metadata }
  return { is: 'value', status: 201, value: { ...asked, metadata, ...answered } as never }
}

export function fillInTokenRequest(asked: KubeObject): void {
  asked.spec ??= {}
  asked.spec.expirationSeconds ??= expirationSecondsDefault
}
