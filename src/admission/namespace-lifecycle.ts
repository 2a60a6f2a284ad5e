/**
 * The NamespaceLifecycle plugin rejects creates in a namespace that is missing or terminating, and
 * the deletion of the system namespaces. It is the first of all plugins.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { ApiError, forbiddenRequest, notFound } from '#api/status-error.ts'
import { type Awaitable, after } from '#base/awaitable.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])
const namespaces = { group: '', plural: 'namespaces' }

const isNamespace = ({ kind }: AdmissionRequest) =>
  kind.group === '' && kind.plural === 'namespaces'

const terminatingHasCause = change('a namespace that is being terminated is a cause of the error', {
  since: 17,
})

export const namespaceLifecycle = (release: number): AdmissionPlugin => ({
  name: 'NamespaceLifecycle',
  mutate(request, reader) {
    const { operation, name } = request
    if (operation === 'DELETE' && isNamespace(request) && immortal.has(name)) {
      throw forbiddenRequest(namespaces, name, 'this namespace may not be deleted')
    }
    return requireNamespace(request, reader, release)
  },
  // The namespace is deleted as soon as it seems empty. An object that a webhook delayed could then
  // remain without its namespace.
  recheck: (request, reader) => requireNamespace(request, reader, release),
})

function requireNamespace(
  request: AdmissionRequest,
  reader: ObjectReader,
  release: number,
): Awaitable<void> {
  const { operation, namespace } = request
  if (operation !== 'CREATE' || namespace === '' || isNamespace(request)) return
  // Reviews of access name a namespace without being in it.
  if (request.kind.group === 'authorization.k8s.io') return
  return after(reader.get('', 'namespaces', '', namespace), (found) => {
    if (found === undefined) throw notFound(namespaces, namespace)
    if (found.status?.phase === 'Terminating' || found.metadata.deletionTimestamp) {
      throw terminating(request, release)
    }
  })
}

function terminating(request: AdmissionRequest, release: number): ApiError {
  const { namespace } = request
  const refused = refusal(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  )
  if (!releaseOf(release).has(terminatingHasCause)) return refused
  return new ApiError(403, 'Forbidden', refused.message, {
    ...refused.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}
