/** Admission of a body that is not stored as it is: an eviction, a binding, a token request, a review. */
import { AdmissionChain } from '#admission/chain.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Server, WriteRequest } from '#verbs/server.ts'

/** Plugins may change the body, in place. `check`: what is asked of it once they have. */
export async function admitBody(
  server: Server,
  request: WriteRequest,
  body: KubeObject,
  name: string,
  check: () => void = () => {},
): Promise<void> {
  const { target, user, options, warnings, auditAnnotations } = request
  const attributes = {
    operation: 'CREATE' as const,
    kind: target.kind,
    subresource: target.subresource,
    namespace: target.namespace,
    name,
    object: body,
    old: undefined,
    user,
    dryRun: options.dryRun,
    options: { fieldManager: options.fieldManagerAsked },
    warnings,
    auditAnnotations,
    deadlineAt: request.deadlineAt,
  }
  await server.admission.mutate(attributes)
  check()
  await server.admission.validate(attributes)
}

/** The server for what follows from an admitted body: its writes are not admitted once more. */
export const afterAdmission = (server: Server): Server => ({
  ...server,
  admission: new AdmissionChain([], server.reader),
})
