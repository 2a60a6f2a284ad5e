/**
 * The PersistentVolumeClaimResize plugin: only a bound claim may grow, and only if its class has
 * allowVolumeExpansion.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { compareQuantities } from '#api/quantity.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { classOfClaim } from './claim-class.ts'
import { isMain } from './match.ts'
import { refusal } from './refusal.ts'

export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  validate(request, reader) {
    if (request.operation !== 'UPDATE' || !isMain(request, '', 'persistentvolumeclaims')) return
    const [next, old] = [request.object as KubeObject, request.old as KubeObject]
    if (compareQuantities(sizeOf(next), sizeOf(old)) <= 0) return
    if (old.status?.phase !== 'Bound') {
      throw refusal(request, 'Only bound persistent volume claims can be expanded')
    }
    return requireExpansion(request, reader)
  },
}

const sizeOf = ({ spec }: KubeObject): string => spec.resources?.requests?.storage ?? '0'

async function requireExpansion(request: AdmissionRequest, reader: ObjectReader): Promise<void> {
  const name = classOfClaim(request.object as KubeObject)
  const same = name !== '' && name === classOfClaim(request.old as KubeObject)
  const found = same ? await reader.get('storage.k8s.io', 'storageclasses', '', name) : undefined
  if (found?.allowVolumeExpansion === true) return
  throw refusal(
    request,
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  )
}
