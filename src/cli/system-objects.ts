/** What is there from the start: the namespaces every cluster has. Each is made where it is missing, by an ordinary create. */
import { ApiError } from '#api/status-error.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { localClient } from '#verbs/local-client.ts'
import type { Server } from '#verbs/server.ts'

const apiserver = { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} }
const namespaces = { group: '', version: 'v1', plural: 'namespaces' }

export async function ensureSystemObjects(server: Server): Promise<void> {
  const client = localClient(server, apiserver, 'kube-apiserver')
  await Promise.all(
    ['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) =>
      client.create(namespaces, '', { metadata: { name } } as KubeObject).catch((error) => {
        if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error
      }),
    ),
  )
}
