/**
 * The plugins DefaultStorageClass, which sets the class of claims without one, and
 * StorageObjectInUseProtection, which adds finalizers to claims and volumes.
 */
import type { KubeObject } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { newestFirst } from './newest-first.ts'
import { refusal } from './refusal.ts'

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const protections: Readonly<Record<string, string>> = {
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
}

const isNewCore = ({ operation, kind, subresource }: AdmissionRequest) =>
  operation === 'CREATE' && kind.group === '' && subresource === ''

const newestStorageClass = change('of several default storage classes the newest counts', {
  since: 26,
})
const protectsClasses = change('volume attributes classes are protected while in use', {
  since: 33,
})

export const defaultStorageClass = (release: Release): AdmissionPlugin => ({
  name: 'DefaultStorageClass',
  mutate(request, reader) {
    if (!isNewCore(request) || request.kind.plural !== 'persistentvolumeclaims') return
    const claim = request.object as KubeObject
    const annotated =
      claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined
    if (annotated || claim.spec.storageClassName !== undefined) return
    return giveDefault(request, claim, reader, release)
  },
})

async function giveDefault(
  request: AdmissionRequest,
  claim: KubeObject,
  reader: ObjectReader,
  release: Release,
): Promise<void> {
  const classes = await reader.list('storage.k8s.io', 'storageclasses')
  const defaults = classes.filter(({ metadata }) =>
    defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true'),
  )
  if (defaults.length === 0) return
  if (defaults.length > 1 && !release.has(newestStorageClass)) {
    const many = `${defaults.length} default StorageClasses were found`
    throw refusal(request, `Internal error occurred: ${many}`)
  }
  claim.spec.storageClassName = newestFirst(defaults)[0]?.metadata.name
}

export function storageObjectInUseProtection(
  release: Release,
  feature: (gate: string) => boolean,
): AdmissionPlugin {
  const hasClasses = release.has(protectsClasses) && feature('VolumeAttributesClass')
  return {
    name: 'StorageObjectInUseProtection',
    mutate(request) {
      if (request.operation !== 'CREATE' || request.subresource !== '') return
      const { group, plural } = request.kind
      const finalizer = protections[`${group}/${plural}`]
      if (finalizer === undefined || (group !== '' && !hasClasses)) return
      const { metadata } = request.object as KubeObject
      if (metadata.finalizers?.includes(finalizer)) return
      metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
    },
  }
}
