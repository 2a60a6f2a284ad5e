/** Defaults of StorageClass. */
import type { Defaulter, Defaulters } from '#kinds/all-kinds/defaulter.ts'

const storageClass: Defaulter = (value) => {
  value.reclaimPolicy ??= 'Delete'
  value.volumeBindingMode ??= 'Immediate'
}

export const storageClassDefaults: Defaulters = {
  'io.k8s.api.storage.v1.StorageClass': storageClass,
  'io.k8s.api.storage.v1beta1.StorageClass': storageClass,
}
