/** The behaviours of volumes and what makes them, by group and plural. */
import type { Behaviour } from '#kinds/kind.ts'
import { csiDriver, csiNode, csiStorageCapacity } from './csi.ts'
import { persistentVolume } from './persistent-volume.ts'
import { persistentVolumeClaim } from './persistent-volume-claim.ts'
import { storageClass } from './storage-class.ts'
import { volumeAttachment } from './volume-attachment.ts'

export const storageBehaviours: Readonly<Record<string, Behaviour>> = {
  '/persistentvolumes': persistentVolume,
  '/persistentvolumeclaims': persistentVolumeClaim,
  'storage.k8s.io/storageclasses': storageClass,
  'storage.k8s.io/csidrivers': csiDriver,
  'storage.k8s.io/csinodes': csiNode,
  'storage.k8s.io/csistoragecapacities': csiStorageCapacity,
  'storage.k8s.io/volumeattachments': volumeAttachment,
}
