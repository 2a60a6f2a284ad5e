/** serviceaccounts/token: a fresh token for an account, signed and not stored. */
import { answerTokenRequest, checkTokenRequest } from '#access/token-request.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { serviceUnavailable } from '#api/status-error.ts'
import { recordUpdate } from '#patch/apply/field-manager.ts'
import type { Answer } from '#verbs/answer.ts'
import { conformAs } from '#verbs/decode.ts'
import { fieldManagerKind, setManaged } from '#verbs/ownership.ts'
import { type Server, timestamp, type WriteRequest } from '#verbs/server.ts'
import { admitBody } from './admit.ts'

/** An hour, where nothing is asked for. */
const expirationSecondsDefault = 3600
const apiVersion = 'authentication.k8s.io/v1'

export async function requestToken(server: Server, request: WriteRequest): Promise<Answer> {
  const { namespace, name } = request.target
  const asked = conformAs(server, apiVersion, 'TokenRequest', request)
  fillInTokenRequest(asked)
  claimAsked(server, request, asked)
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
  const metadata = {
    ...asked.metadata,
    creationTimestamp: asked.metadata?.creationTimestamp ?? null,
  }
  return { is: 'value', status: 201, value: { ...asked, metadata, ...answered } as never }
}

export function fillInTokenRequest(asked: KubeObject): void {
  asked.spec ??= {}
  asked.spec.expirationSeconds ??= expirationSecondsDefault
}

/** What was asked for is its writer's, though nothing is stored. */
function claimAsked(server: Server, request: WriteRequest, asked: KubeObject): void {
  const { subresource, kind } = request.target
  const type = server.typeNamed(apiVersion, 'TokenRequest')
  if (!server.feature('ServerSideApply') || type === undefined) return
  const manager = {
    ...fieldManagerKind(kind),
    apiVersion,
    kind: 'TokenRequest',
    typeFor: () => type,
    convert: (object: KubeObject) => object,
    resetFields: () => undefined,
  }
  const who = { manager: request.options.fieldManager, subresource, now: timestamp(server.clock) }
  setManaged(asked, recordUpdate(manager, undefined, asked, who))
}
