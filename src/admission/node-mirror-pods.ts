/**
 * The API objects to which a pod refers. A mirror pod, which a kubelet creates from a file, must
 * not refer to any.
 */
import { podConfigMapNames, podSecretNames } from '#access/authorize/pod-references.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'

const namesKinds = change('a mirror pod that refers to objects is rejected by their kind', {
  since: 34,
})
const refersToClaims = change('a mirror pod cannot refer to resource claims', { since: 32 })
const refersToBundles = change('a mirror pod cannot refer to cluster trust bundles', { since: 29 })

/** Volumes that refer to objects, as messages name them. Other volumes refer to none. */
const ofVolume: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
}
const ofSource: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
}

/** Undefined if a pod refers to no object. */
export function referenceOf(pod: KubeObject, release: Release): string | undefined {
  return release.has(namesKinds) ? anyReference(pod) : olderReference(pod, release)
}

const kindIn = (words: Readonly<Record<string, string>>, value: Loose): string | undefined => {
  const field = Object.keys(words).find((name) => value[name] != null)
  return field === undefined ? undefined : words[field]
}

function anyReference(pod: KubeObject): string | undefined {
  const { spec } = pod
  if (spec.serviceAccountName) return 'serviceaccounts'
  if (podSecretNames(pod).size > 0) return 'secrets'
  if (podConfigMapNames(pod).size > 0) return 'configmaps'
  if (spec.resourceClaims?.length) return 'resourceclaims'
  for (const volume of (spec.volumes ?? []) as Loose[]) {
    const sources: Loose[] = volume.projected?.sources ?? []
    const found = [kindIn(ofVolume, volume), ...sources.map((source) => kindIn(ofSource, source))]
    const kind = found.find((one) => one !== undefined)
    if (kind !== undefined) return kind
  }
  return undefined
}

function olderReference(pod: KubeObject, release: Release): string | undefined {
  const { spec } = pod
  const volumes: Loose[] = spec.volumes ?? []
  const sources = volumes.flatMap(({ projected }) => (projected?.sources ?? []) as Loose[])
  if (spec.serviceAccountName) return 'a service account'
  if (podSecretNames(pod).size > 0) return 'secrets'
  if (podConfigMapNames(pod).size > 0) return 'configmaps'
  if (release.has(refersToBundles) && sources.some((source) => source.clusterTrustBundle))
    return 'clustertrustbundles'
  if (volumes.some((volume) => volume.persistentVolumeClaim)) return 'persistentvolumeclaims'
  if (release.has(refersToClaims) && spec.resourceClaims?.length) return 'resourceclaims'
  return undefined
}
