/** Defaults of CSIDriver. */
import { driversHaveLifecycles } from '#kinds/stored-fields.ts'
import { releaseOf } from '#api/releases/change.ts'
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

/** Most of these fields were added behind a feature gate. */
const csiDriverSpec: Defaulter = (spec, { release, feature }) => {
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  if (feature('CSIStorageCapacity')) spec.storageCapacity ??= false
  if (feature('CSIVolumeFSGroupPolicy')) spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  if (
    !spec.volumeLifecycleModes?.length &&
    feature('CSIInlineVolume') &&
    releaseOf(release).has(driversHaveLifecycles)
  ) {
    spec.volumeLifecycleModes = ['Persistent']
  }
  if (feature('CSIServiceAccountToken')) spec.requiresRepublish ??= false
  if (feature('SELinuxMountReadWriteOncePod')) spec.seLinuxMount ??= false
  if (feature('VolumeLimitScaling')) spec.preventPodSchedulingIfMissing ??= false
}

export const csiDriverDefaults: Defaulters = {
  'io.k8s.api.storage.v1.CSIDriverSpec': csiDriverSpec,
  'io.k8s.api.storage.v1beta1.CSIDriverSpec': csiDriverSpec,
}
