/**
 * Finishes the deletion of a VolumeAttributesClass: removes its finalizer when no claim or volume
 * uses the class. The admission plugin StorageObjectInUseProtection adds the finalizer.
 */
import type { KubeObject } from '#api/object-meta.ts'
import type { Controller, ControllerParts } from '#controllers/controller.ts'
import { queueFor, unlessMissing } from '#controllers/queue-for.ts'
import {
  persistentVolumeClaims,
  persistentVolumes,
  volumeAttributesClasses,
} from '#controllers/resources.ts'

const classFinalizer = 'kubernetes.io/vac-protection'

export const attributesClassProtection: Controller = {
  name: 'volumeattributesclass-protection-controller',
  account: 'volumeattributesclass-protection-controller',
  start(parts) {
    const { informers } = parts
    const classes = informers.volumeAttributesClasses()
    const queue = queueFor('volumeattributesclass-protection', parts, (name) => sync(parts, name))
    const look = ({ deleting, name }: { deleting: boolean; name: string }) => {
      if (deleting) queue.add(name)
    }
    classes.listen({ changed: look })
    // A change of a claim or volume may end the use of any class. A look at all classes is cheap.
    const freed = () => {
      for (const one of classes.values()) look(one)
    }
    informers.claims().listen({ changed: freed, deleted: freed })
    informers.volumes().listen({ changed: freed, deleted: freed })
  },
}

async function sync({ client }: ControllerParts, name: string): Promise<void> {
  const live = await unlessMissing(client.get(volumeAttributesClasses, '', name))
  const { deletionTimestamp, finalizers = [] } = live?.metadata ?? {}
  if (live === undefined || deletionTimestamp === undefined) return
  if (!finalizers.includes(classFinalizer)) return
  for (const resource of [persistentVolumeClaims, persistentVolumes]) {
    const { items } = await client.list(resource, '')
    if (items.some((object) => usesClass(object, name))) return
  }
  const left = finalizers.filter((one) => one !== classFinalizer)
  const metadata = { ...live.metadata, finalizers: left }
  await unlessMissing(client.update(volumeAttributesClasses, { ...live, metadata }))
}

/** A claim uses its current class and the one it changes to. */
const usesClass = ({ spec, status }: KubeObject, name: string): boolean =>
  [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].includes(name)
