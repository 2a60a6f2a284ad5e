/**
 * Admission of a request body that is not stored itself: an eviction, a binding, a token request, a
 * review.
 */
import { AdmissionChain } from '#admission/chain.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Awaitable } from '#base/awaitable.ts'
import { attributesOf } from '#verbs/create.ts'
import type { Server, WriteRequest } from '#verbs/server.ts'

/**
 * Mutating plugins may change the body in place. `check` validates it after them, before the
 * validating plugins run.
 */
export async function admitBody(
  server: Server,
  request: WriteRequest,
  body: KubeObject,
  name: string,
  check: () => Awaitable<void> = () => {},
): Promise<void> {
  const attributes = attributesOf(request, body, name)
  await server.admission.mutate(attributes)
  await check()
  await server.admission.validate(attributes)
}

/** A server whose writes bypass admission, for the writes that follow from an admitted body. */
export const afterAdmission = (server: Server): Server => ({
  ...server,
  admission: new AdmissionChain([], server.reader),
})
