/**
 * Two plugins for requests in a namespace that does not exist: NamespaceAutoProvision creates it,
 * NamespaceExists rejects the request.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { ApiError, notFound } from '#api/status-error.ts'
import { after } from '#base/awaitable.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const concerns = ({ namespace, kind }: AdmissionRequest) =>
  namespace !== '' && (kind.group !== '' || kind.kind !== 'Namespace')

export function namespaceAutoProvision(
  create: (namespace: KubeObject) => Promise<unknown>,
): AdmissionPlugin {
  return {
    name: 'NamespaceAutoProvision',
    async mutate(request, reader) {
      if (request.operation !== 'CREATE' || request.dryRun || !concerns(request)) return
      if ((await reader.get('', 'namespaces', '', request.namespace)) !== undefined) return
      try {
        await create({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: request.namespace } })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.reason !== 'AlreadyExists') throw refusal(request, error.message)
      }
    },
  }
}

export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  validate(request, reader) {
    if (request.operation === 'CONNECT' || !concerns(request)) return
    return after(reader.get('', 'namespaces', '', request.namespace), (found) => {
      if (found === undefined)
        throw notFound({ group: '', plural: 'namespaces' }, request.namespace)
    })
  },
}
