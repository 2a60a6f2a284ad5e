/** PersistentVolume: its spec, and where its bytes are, which may not change. */
import { type FieldError, forbidden, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goPointer, goStruct } from '#api/go-syntax.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { copyData } from '#base/copy-data.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { newerNodeLabels } from '#kinds/all-kinds/deprecated-node-labels.ts'
import { resourceVersionRequired, sameJson } from '#kinds/all-kinds/checks.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { internalDiff } from '#kinds/all-kinds/internal-form.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { volumeSourceForm } from './source-form.ts'
import { volumeWarnings } from './volume-warnings.ts'
import { immutableWords } from './immutable-words.ts'
import { sourceFields } from './volume-sources.ts'
import { oncePodIn } from '#kinds/core/persistent-volume-claim/access-modes.ts'
import { checkVolumeSpec, volumeRules } from './volume-spec.ts'

const labelsCanBeRenamed = change('volumes can be moved to newer names of node labels', {
  since: 27,
})

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
  const rules = volumeRules(context, old?.spec)
  return checkVolumeSpec(volume.spec ?? {}, FieldPath.of('spec'), name, once, rules)
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

function checkChanges(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const { release } = context
  const errors: FieldError[] = []
  const [now, then] = [sourceOf(next), sourceOf(old)]
  if (now.csi?.controllerExpandSecretRef && then.csi && !then.csi.controllerExpandSecretRef) {
    now.csi = { ...now.csi, controllerExpandSecretRef: undefined }
  }
  if (!sameJson(now, then)) {
    const at = 'spec.persistentvolumesource'
    const shown = {
      asGo: () => goDifference('core.PersistentVolumeSource', now, then),
      unified: () => internalDiff(volumeSourceForm, then, now),
    }
    const words = immutableWords(release, at, 'is immutable after creation', shown)
    errors.push(forbidden(at, words))
  }
  const [mode, oldMode] = [next.spec?.volumeMode, old.spec?.volumeMode]
  if (mode !== oldMode) errors.push(invalid('volumeMode', mode, immutableMessage))
  errors.push(...checkAffinityChange(next.spec?.nodeAffinity, old.spec?.nodeAffinity, context))
  return [...errors, ...checkClassChange(next.spec ?? {}, old.spec ?? {}, context)]
}

const affinityType = 'io.k8s.api.core.v1.VolumeNodeAffinity'

function shownAffinity(affinity: Loose | undefined) {
  const required = goPointer('core.NodeSelector', affinity?.required)
  const before34 = goStruct('core.VolumeNodeAffinity', [['Required', required]])
  return internalValue(affinityType, affinity, before34.text)
}

function checkAffinityChange(
  next: Loose | undefined,
  old: Loose | undefined,
  { release, feature }: Context,
): FieldError[] {
  if (!old || feature('MutablePVNodeAffinity') || sameJson(next, old)) return []
  const canRename = releaseOf(release).has(labelsCanBeRenamed)
  if (canRename && next && sameJson(next, withNewLabels(old, next))) return []
  const exception = canRename ? ', except for updating from beta label to GA' : ''
  return [invalid('nodeAffinity', shownAffinity(next), `${immutableMessage}${exception}`)]
}

/**
 * The old node affinity, with deprecated label names replaced where the new affinity has the newer
 * names.
 */
function withNewLabels(old: Loose, next: Loose): Loose {
  const termsOf = (affinity: Loose): Loose[] => affinity.required?.nodeSelectorTerms ?? []
  const copy = copyData(old)
  for (const [i, term] of termsOf(copy).entries()) {
    for (const list of ['matchExpressions', 'matchFields']) {
      for (const [j, requirement] of ((term[list] ?? []) as Loose[]).entries()) {
        const key: string | undefined = termsOf(next)[i]?.[list]?.[j]?.key
        if (key !== undefined && newerNodeLabels.get(requirement.key) === key) requirement.key = key
      }
    }
  }
  return copy
}

function checkClassChange(next: Loose, old: Loose, context: Context): FieldError[] {
  const [now, then] = [next.volumeAttributesClassName, old.volumeAttributesClassName]
  if (now === then) return []
  const at = 'spec.volumeAttributesClassName'
  const enabled = context.feature('VolumeAttributesClass')
  const errors: FieldError[] = []
  if (!enabled) {
    const detail = 'update is forbidden when the VolumeAttributesClass feature gate is disabled'
    errors.push(forbidden(at, detail))
  }
  if (then !== undefined && now === undefined)
    errors.push(forbidden(at, 'update from non-nil value to nil is forbidden'))
  return errors
}

function dropDisabled(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const used = Boolean(old?.spec?.csi?.controllerExpandSecretRef)
  const enabled = context.feature('ExpandCSIVolumes')
  dropUnlessUsed(next.spec?.csi, 'controllerExpandSecretRef', enabled, used)
  const attributes = context.feature('VolumeAttributesClass')
  const hadClass = old?.spec?.volumeAttributesClassName !== undefined
  dropUnlessUsed(next.spec, 'volumeAttributesClassName', attributes, hadClass)
}

const phaseTimeGate = 'PersistentVolumeLastPhaseTransitionTime'

const newStatus = ({ feature, now }: Context): Loose =>
  feature(phaseTimeGate) ? { phase: 'Pending', lastPhaseTransitionTime: now } : {}

/** The time of the last change of the phase, unless the client sets another. */
function stampPhase(next: KubeObject, old: KubeObject, now: string): void {
  const status: Loose = (next.status ??= {})
  const then: Loose = old.status ?? {}
  const time: string | undefined = then.lastPhaseTransitionTime
  const given: string | undefined = status.lastPhaseTransitionTime
  if ((status.phase ?? '') === (then.phase ?? '')) {
    if (given === undefined && time !== undefined) status.lastPhaseTransitionTime = time
  } else if (given === undefined || given === time) status.lastPhaseTransitionTime = now
}

/**
 * kube-apiserver validates a changed volume completely, and then again together with its immutable
 * fields.
 */
export const persistentVolumeBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = newStatus(context)
    dropDisabled(object, undefined, context)
  },
  readBack(object) {
    object.status = { ...object.status, phase: 'Pending' }
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    dropDisabled(next, old, context)
  },
  warningsOnCreate: volumeWarnings,
  warningsOnUpdate: (next, _old, context) => volumeWarnings(next, context),
  validateCreate: (object, context) => [
    ...checkSpec(object, context),
    ...checkMountOptions(object),
  ],
  validateUpdate: (next, old, context) => {
    const whole = [
      ...checkMetadata(next, false, nameIsDnsSubdomain),
      ...checkSpec(next, context, old),
    ]
    return [...whole, ...checkMountOptions(next), ...whole, ...checkChanges(next, old, context)]
  },
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate(next, old, context) {
        keepSpec(next, old)
        if (context.feature(phaseTimeGate)) stampPhase(next, old, context.now)
      },
      validateUpdate: (next, old) => [
        ...checkMetadataUpdate(next, old),
        ...resourceVersionRequired(next.metadata.resourceVersion),
      ],
    },
  },
}
