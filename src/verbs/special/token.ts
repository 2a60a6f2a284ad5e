/** serviceaccounts/token: a fresh token for an account, signed and not stored. */
import { answerTokenRequest, checkTokenRequest } from '#access/token-request.ts'
import { serviceUnavailable } from '#api/status-error.ts'
import type { Answer } from '#verbs/answer.ts'
import { conformAs } from '#verbs/decode.ts'
import type { Server, WriteRequest } from '#verbs/server.ts'
import { admitBody } from './admit.ts'

/** An hour, where nothing is asked for. */
const expirationSecondsDefault = 3600

export async function requestToken(server: Server, request: WriteRequest): Promise<Answer> {
  const { namespace, name } = request.target
  const asked = conformAs(server, 'authentication.k8s.io/v1', 'TokenRequest', request)
  asked.spec = {
    ...asked.spec,
    expirationSeconds: asked.spec?.expirationSeconds ?? expirationSecondsDefault,
  }
  await admitBody(server, request, asked, name)
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
  const metadata = {
    ...asked.metadata,
    name,
    namespace,
    creationTimestamp: `${new Date(now).toISOString().slice(0, 19)}Z`,
  }
  return { is: 'value', status: 201, value: { ...asked, metadata, ...answered } as never }
}
