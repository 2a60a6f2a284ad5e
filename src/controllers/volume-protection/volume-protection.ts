/**
 * Protects claims that pods use, and volumes bound to claims, from deletion. The controller removes
 * their finalizer when they are no longer in use.
 */
import type { ResourceRef } from '#client/client.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { claimFinalizer, podOf, volumeFinalizer } from '#controllers/kept.ts'
import { queueFor, splitKey, unlessMissing } from '#controllers/queue-for.ts'
import { persistentVolumeClaims, persistentVolumes, pods } from '#controllers/resources.ts'

export const claimProtection: Controller = {
  name: 'pvc-protection',
  account: 'pvc-protection-controller',
  start(parts) {
    const { client, informers } = parts
    const claims = informers.claims()
    const queue = queueFor(
      'pvc-protection',
      parts,
      async (key) => {
        const [namespace, name] = splitKey(key)
        const claim = claims.get(namespace, name)
        if (!claim?.deleting || !claim.protected) return
        // This is rare, so listing all pods costs less than an index of all claims.
        const { items } = await client.list(pods, namespace)
        const used = items.map(podOf).some((pod) => pod.node !== '' && pod.claims.includes(name))
        if (!used) await removeFinalizer(parts, persistentVolumeClaims, key, claimFinalizer)
      },
      { workersMax: 20 },
    )
    claims.listen({
      changed: ({ deleting, namespace, name }) => {
        if (deleting) queue.add(`${namespace}/${name}`)
      },
    })
    const freed = ({
      namespace,
      claims: names,
    }: {
      namespace: string
      claims: readonly string[]
    }) => {
      for (const name of names)
        if (claims.get(namespace, name)?.deleting) queue.add(`${namespace}/${name}`)
    }
    informers.pods().listen({ deleted: freed })
  },
}

export const volumeProtection: Controller = {
  name: 'pv-protection',
  account: 'pv-protection-controller',
  start(parts) {
    const volumes = parts.informers.volumes()
    const queue = queueFor('pv-protection', parts, async (name) => {
      const volume = volumes.get('', name)
      if (!volume?.deleting || !volume.protected || volume.bound) return
      await removeFinalizer(parts, persistentVolumes, `/${name}`, volumeFinalizer)
    })
    volumes.listen({
      changed: ({ deleting, name }) => {
        if (deleting) queue.add(name)
      },
    })
  },
}

async function removeFinalizer(
  { client }: ControllerParts,
  resource: ResourceRef,
  key: string,
  finalizer: string,
): Promise<void> {
  const [namespace, name] = splitKey(key)
  const live = await unlessMissing(client.get(resource, namespace, name))
  // A new object may have its name by now, which is not being deleted.
  if (live?.metadata.deletionTimestamp === undefined) return
  if (resource === persistentVolumes && live.status?.phase === 'Bound') return
  const finalizers = (live.metadata.finalizers ?? []).filter((one) => one !== finalizer)
  await unlessMissing(
    client.update(resource, { ...live, metadata: { ...live.metadata, finalizers } }),
  )
}
