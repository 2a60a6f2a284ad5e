/** Claims without a class get the default one; claims and volumes are protected from deletion while in use. */
import type { KubeObject } from '#api/object-meta.ts'
import type { ObjectReader } from '#kinds/reader.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'
import { refusal } from './refusal.ts'

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const protections: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
}

const isNewCore = ({ operation, kind, subresource }: AdmissionRequest) =>
  operation === 'CREATE' && kind.group === '' && subresource === ''

export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  mutate(request, reader) {
    if (!isNewCore(request) || request.kind.plural !== 'persistentvolumeclaims') return
    const claim = request.object as KubeObject
    const annotated =
      claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined
    if (annotated || claim.spec.storageClassName !== undefined) return
    return giveDefault(request, claim, reader)
  },
}

async function giveDefault(
  request: AdmissionRequest,
  claim: KubeObject,
  reader: ObjectReader,
): Promise<void> {
  const classes = await reader.list('storage.k8s.io', 'storageclasses')
  const defaults = classes.filter(({ metadata }) =>
    defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true'),
  )
  if (defaults.length === 0) return
  if (defaults.length > 1) {
    const many = `${defaults.length} default StorageClasses were found`
    throw refusal(request, `Internal error occurred: ${many}`)
  }
  claim.spec.storageClassName = defaults[0].metadata.name
}

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  mutate(request) {
    if (!isNewCore(request)) return
    const finalizer = protections[request.kind.plural]
    if (finalizer === undefined) return
    const { metadata } = request.object as KubeObject
    if (metadata.finalizers?.includes(finalizer)) return
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
  },
}
