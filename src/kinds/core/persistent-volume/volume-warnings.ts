/** Warnings about deprecated fields of a persistent volume. kube-apiserver accepts the volume. */
import { FieldPath } from '#api/field-path.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { nodeSelectorTermWarnings } from '#kinds/all-kinds/deprecated-node-labels.ts'
import type { Context } from '#kinds/kind.ts'

const ofNodeLabels = change('volumes are warned of deprecated node labels', { since: 25 })
const ofClassAnnotations = change('volumes are warned of the annotation for the storage class', {
  since: 28,
})
const ofPlugins = change('volumes are warned of deprecated volume plugins', { since: 28 })
const ofRecycling = change('volumes are warned of the reclaim policy Recycle', { since: 30 })
const ofMountOptions = change('volumes are warned of the annotation for mount options', {
  since: 31,
})

const annotations = [
  [
    ofClassAnnotations,
    'volume.beta.kubernetes.io/storage-class',
    'deprecated since v1.8; use "storageClassName" attribute instead',
  ],
  [
    ofMountOptions,
    'volume.beta.kubernetes.io/mount-options',
    'deprecated since v1.31; use "mountOptions" attribute instead',
  ],
] as const

const recycling =
  'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'

/** The field, its path where that differs, and the warning. */
const plugins: readonly (readonly [field: string, shown: string, message: string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]

export function volumeWarnings({ spec = {}, metadata }: KubeObject, context: Context): string[] {
  const { has } = releaseOf(context.release)
  const path = FieldPath.of('spec')
  const warnings: string[] = []
  for (const [since, key, message] of annotations) {
    if (!has(since) || !Object.hasOwn(metadata.annotations ?? {}, key)) continue
    warnings.push(`${FieldPath.of('metadata', 'annotations').key(key)}: ${message}`)
  }
  if (has(ofRecycling) && spec.persistentVolumeReclaimPolicy === 'Recycle')
    warnings.push(`${path.child('persistentVolumeReclaimPolicy')}: ${recycling}`)
  if (has(ofNodeLabels)) {
    const at = path.child('nodeAffinity', 'required', 'nodeSelectorTerms')
    const terms: Loose[] = spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
    warnings.push(...terms.flatMap((term, i) => nodeSelectorTermWarnings(term, at.index(i))))
  }
  if (!has(ofPlugins)) return warnings
  const used = plugins.filter(([field]) => spec[field])
  return [...warnings, ...used.map(([, shown, message]) => `${path.child(shown)}: ${message}`)]
}
