/**
 * The config map with the authorities that pods trust: `kube-root-ca.crt` in every namespace,
 * repaired whenever it differs.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller } from '#controllers/controller.ts'
import { rootConfigMapName as name } from '#controllers/kept.ts'
import { queueFor, unlessMissing, ignoreIfExistsOrTerminating } from '#controllers/queue-for.ts'
import { configMaps } from '#controllers/resources.ts'

const descriptionKey = 'kubernetes.io/description'
const description = 'The certificates to trust when calling the API server from inside the cluster.'
const rootIsDescribed = change('the config map kube-root-ca.crt has a description', { since: 21 })

export const rootCertificatePublisher: Controller = {
  name: 'root-ca-cert-publisher',
  account: 'root-ca-cert-publisher',
  start(parts) {
    const { client, informers, rootCertificates, release } = parts
    const data = { 'ca.crt': rootCertificates }
    const annotations = releaseOf(release).has(rootIsDescribed)
      ? { [descriptionKey]: description }
      : undefined
    const found = informers.rootConfigMaps()
    const namespaces = informers.namespaces()
    const queue = queueFor('root-ca-cert-publisher', parts, async (namespace) => {
      await found.synced
      if (!namespaces.get('', namespace)?.active) return
      const kept = found.get(namespace, name)
      if (kept?.right(rootCertificates)) return
      const live = await unlessMissing(client.get(configMaps, namespace, name))
      if (live !== undefined) {
        await client.update(configMaps, { ...live, data })
        return
      }
      const made: KubeObject = {
        metadata: { name, namespace, ...(annotations && { annotations }) },
        data,
      }
      await ignoreIfExistsOrTerminating(client.create(configMaps, namespace, made))
    })
    namespaces.listen({
      changed: (namespace, before) => {
        if (namespace.active && before === undefined) queue.add(namespace.name)
      },
    })
    found.listen({
      changed: ({ namespace }) => queue.add(namespace),
      deleted: ({ namespace }) => queue.add(namespace),
    })
  },
}
