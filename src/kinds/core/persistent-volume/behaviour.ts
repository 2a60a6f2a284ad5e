/** PersistentVolume: its spec, and where its bytes are, which may not change. */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { asGo, goPointer, goStruct, type GoText } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { resourceVersionRequired, sameJson } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { immutableWords } from './immutable-words.ts'
import { sourceFields } from './volume-sources.ts'
import { oncePodIn } from '#kinds/core/persistent-volume-claim/access-modes.ts'
import { checkVolumeSpec } from './volume-spec.ts'

const mountOptionsKey = 'volume.beta.kubernetes.io/mount-options'
const mountable = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
]

function checkSpec(volume: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const once = oncePodIn(context, old?.spec?.accessModes)
  const name = volume.metadata.name ?? ''
  return checkVolumeSpec(volume.spec ?? {}, FieldPath.of('spec'), name, once)
}

function checkMountOptions(volume: KubeObject): FieldError[] {
  if (mountable.some((field) => volume.spec?.[field])) return []
  if (ownValue(volume.metadata.annotations, mountOptionsKey) === undefined) return []
  const path = FieldPath.of('metadata', 'annotations', mountOptionsKey)
  return [forbidden(path, 'may not specify mount options for this volume type')]
}

const sourceOf = (volume: KubeObject): Loose =>
  Object.fromEntries(
    sourceFields
      .filter((field) => volume.spec?.[field])
      .map((field) => [field, volume.spec[field]]),
  )

function checkChanges(next: KubeObject, old: KubeObject, release: number): FieldError[] {
  const errors: FieldError[] = []
  const [now, then] = [sourceOf(next), sourceOf(old)]
  if (now.csi?.controllerExpandSecretRef && then.csi && !then.csi.controllerExpandSecretRef) {
    now.csi = { ...now.csi, controllerExpandSecretRef: undefined }
  }
  if (!sameJson(now, then)) {
    const at = 'spec.persistentvolumesource'
    const shown = () => goDifference('core.PersistentVolumeSource', now, then)
    const words = immutableWords(release, at, 'is immutable after creation', shown)
    errors.push(forbidden(at, words))
  }
  const [mode, oldMode] = [next.spec?.volumeMode, old.spec?.volumeMode]
  if (mode !== oldMode) errors.push(invalid('volumeMode', mode, immutableMessage))
  const [affinity, oldAffinity] = [next.spec?.nodeAffinity, old.spec?.nodeAffinity]
  if (oldAffinity && !sameJson(affinity, oldAffinity)) {
    const shown = affinity && asGo(goAffinity(affinity))
    errors.push(invalid('nodeAffinity', shown, immutableMessage))
  }
  return errors
}

const goAffinity = (affinity: Loose): GoText =>
  goStruct('core.VolumeNodeAffinity', [
    ['Required', goPointer('core.NodeSelector', affinity.required)],
  ])

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const used = Boolean(old?.spec?.csi?.controllerExpandSecretRef)
  const enabled = context.feature('ExpandCSIVolumes')
  dropUnlessUsed(next.spec?.csi, 'controllerExpandSecretRef', enabled, used)
}

/** The original checks a changed volume whole, then once more together with what may not change. */
export const persistentVolumeBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = {}
    dropDisabled(object, undefined, context)
  },
  readBack(object) {
    object.status = { phase: 'Pending' }
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabled(next, old, context)
  },
  validateCreate: (object, context) => [
    ...checkSpec(object, context),
    ...checkMountOptions(object),
  ],
  validateUpdate: (next, old, context) => {
    const whole = [
      ...checkMetadata(next, false, nameIsDnsSubdomain),
      ...checkSpec(next, context, old),
    ]
    return [
      ...whole,
      ...checkMountOptions(next),
      ...whole,
      ...checkChanges(next, old, context.release),
    ]
  },
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate: keepSpec,
      validateUpdate: (next, old) => [
        ...checkMetadataUpdate(next, old),
        ...resourceVersionRequired(next.metadata.resourceVersion),
      ],
    },
  },
}
