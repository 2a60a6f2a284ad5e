/** PersistentVolumeClaim: its request, which may only grow once it is bound. */
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { compareQuantities } from '#api/quantity.ts'
import { copyWithEmptyMarks } from '#api/written-empty.ts'
import { copyData } from '#base/copy-data.ts'
import { resourceVersionRequired, samePart, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkBasicResource } from '#kinds/all-kinds/resource-names.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { internalDiff } from '#kinds/all-kinds/internal-form.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { oncePodIn } from './access-modes.ts'
import { checkAllocation } from './allocation.ts'
import { claimSpecForm } from './claim-form.ts'
import { checkClaimSpec, claimRules } from './claim-spec.ts'
import { claimWarnings } from './claim-warnings.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { immutableWords } from '#kinds/core/persistent-volume/immutable-words.ts'

const classesAreMutable = change('the error of a changed claim names its attributes class', {
  since: 29,
})
const attributesStay = change(
  'a claim keeps an attributes class that is applied, not one it names',
  {
    since: 34,
  },
)
const attributesMayBeUnset = change('a bound claim may stop naming its attributes class', {
  since: 34,
})
const growthCanBeUndone = 'RecoverVolumeExpansionFailure'

const classKey = 'volume.beta.kubernetes.io/storage-class'

function checkSpec(claim: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const once = oncePodIn(context, old?.spec?.accessModes)
  const rules = claimRules(context, old?.spec)
  return checkClaimSpec(claim.spec ?? {}, FieldPath.of('spec'), once, rules)
}

const annotated = (claim: KubeObject): string | undefined =>
  ownValue(claim.metadata.annotations, classKey)

/**
 * Whether the update moves the storage class from the annotation to the field without changing it.
 */
function movesClassToField(next: KubeObject, old: KubeObject): boolean {
  const [then, now] = [annotated(old), annotated(next)]
  return (
    then !== undefined &&
    old.spec?.storageClassName === undefined &&
    next.spec?.storageClassName === then &&
    (now === undefined || now === then)
  )
}

/** A claim that named no class at all, or the same one in the annotation. */
const takesClass = (next: KubeObject, old: KubeObject): boolean =>
  next.spec?.storageClassName !== undefined &&
  old.spec?.storageClassName === undefined &&
  (annotated(old) === undefined || annotated(old) === next.spec.storageClassName)

function checkChanges(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const { has } = releaseOf(context.release)
  const errors: FieldError[] = []
  const [now, then]: [Loose, Loose] = [
    copyWithEmptyMarks(next.spec ?? {}),
    copyWithEmptyMarks(old.spec ?? {}),
  ]
  if (!then.volumeName && now.volumeName) then.volumeName = now.volumeName
  if (movesClassToField(next, old)) delete now.storageClassName
  else {
    if ((annotated(next) ?? '') !== (annotated(old) ?? '')) {
      const path = FieldPath.of('metadata', 'annotations', classKey)
      errors.push(invalid(path, annotated(next) ?? '', immutableMessage))
    }
    if (context.feature('RetroactiveDefaultStorageClass') && takesClass(next, old))
      delete now.storageClassName
  }
  const canGrow = context.feature('ExpandPersistentVolumes')
  if (next.status?.phase === 'Bound') keepWhatMayChange(now, then, context)
  if (!samePart(now, then)) {
    const attributes = has(classesAreMutable) ? ' and volumeAttributesClassName' : ''
    const words = canGrow
      ? `is immutable after creation except resources.requests${attributes} for bound claims`
      : 'is immutable after creation'
    const shown = {
      asGo: () => goDifference('core.PersistentVolumeClaimSpec', now, then),
      unified: () => internalDiff(claimSpecForm, then, now),
    }
    const subject = canGrow ? 'spec' : 'field'
    errors.push(forbidden('spec', immutableWords(context.release, subject, words, shown, !canGrow)))
  }
  if (canGrow) errors.push(...checkSizeChange(next, old, context))
  const [mode, oldMode] = [next.spec?.volumeMode, old.spec?.volumeMode]
  if (mode !== oldMode) errors.push(invalid('volumeMode', mode, immutableMessage))
  return [...errors, ...checkAttributesChange(next, old, context)]
}

/** A bound claim may grow and change its class, so these fields are not compared. */
function keepWhatMayChange(now: Loose, then: Loose, { release, feature }: Context): void {
  const { has } = releaseOf(release)
  if (feature('ExpandPersistentVolumes') && now.resources?.requests)
    now.resources.requests.storage = then.resources?.requests?.storage
  const keepsClass = now.volumeAttributesClassName !== undefined || has(attributesMayBeUnset)
  if (!has(classesAreMutable) || !keepsClass) return
  if (then.volumeAttributesClassName === undefined) delete now.volumeAttributesClassName
  else now.volumeAttributesClassName = then.volumeAttributesClassName
}

function checkSizeChange(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const sizeOf = ({ spec }: KubeObject): string => spec?.resources?.requests?.storage ?? '0'
  if (compareQuantities(sizeOf(next), sizeOf(old)) >= 0) return []
  const at = 'spec.resources.requests.storage'
  if (!canUndoGrowth(context, old))
    return [forbidden(at, 'field can not be less than previous value')]
  const given: string = old.status?.capacity?.storage ?? '0'
  if (compareQuantities(sizeOf(next), given) > 0) return []
  return [forbidden(at, 'field can not be less than status.capacity')]
}

const canUndoGrowth = ({ feature }: Context, old: KubeObject): boolean =>
  feature(growthCanBeUndone) ||
  Boolean(old.status?.allocatedResources) ||
  Boolean(old.status?.allocatedResourceStatuses)

function checkAttributesChange(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const [now, then] = [next.spec?.volumeAttributesClassName, old.spec?.volumeAttributesClassName]
  if (now === then) return []
  const at = 'spec.volumeAttributesClassName'
  const enabled = context.feature('VolumeAttributesClass')
  const errors: FieldError[] = []
  if (!enabled) {
    const detail = 'update is forbidden when the VolumeAttributesClass feature gate is disabled'
    errors.push(forbidden(at, detail))
  }
  if (!enabled && then === undefined) return errors
  const isApplied = releaseOf(context.release).has(attributesStay)
  const kept = isApplied ? old.status?.currentVolumeAttributesClassName : then
  if (kept === undefined || now) return errors
  const what = now === undefined ? 'nil' : isApplied ? 'empty string' : 'an empty string'
  const detail = isApplied
    ? `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`
    : `update from non-nil value to ${what} is forbidden`
  return [...errors, forbidden(at, detail)]
}

/** Data sources that a feature gate allows. */
const sources: readonly [kind: string, apiGroup: string, gate: string][] = [
  ['PersistentVolumeClaim', '', 'VolumePVCDataSource'],
  ['VolumeSnapshot', 'snapshot.storage.k8s.io', 'VolumeSnapshotDataSource'],
]
const claimsHaveReferences = change('claims have spec.dataSourceRef', { since: 22 })

function isClaimOrSnapshot(source: Loose | undefined, { feature }: Context): boolean {
  return sources.some(
    ([kind, apiGroup, gate]) =>
      source?.kind === kind && (source.apiGroup ?? '') === apiGroup && feature(gate),
  )
}

function dropDisabled(spec: Loose, then: Loose, { feature }: Context): void {
  if (!feature('VolumeAttributesClass') && then.volumeAttributesClassName === undefined)
    delete spec.volumeAttributesClassName
  const leavesNamespace = Boolean(spec.dataSourceRef?.namespace)
  if (leavesNamespace && !feature('CrossNamespaceVolumeDataSource') && !then.dataSourceRef)
    delete spec.dataSourceRef
}

/** The fields of a status that a feature gate allows. */
const statusFields: readonly [gate: string, field: string][] = [
  ['VolumeAttributesClass', 'currentVolumeAttributesClassName'],
  ['VolumeAttributesClass', 'modifyVolumeStatus'],
  [growthCanBeUndone, 'allocatedResources'],
  [growthCanBeUndone, 'allocatedResourceStatuses'],
  [growthCanBeUndone, 'resizeStatus'],
  ['CSIVolumeHealth', 'healthStatus'],
]

/** A claim keeps a field that it already uses. */
function dropDisabledStatus(status: Loose, then: Loose, { feature }: Context): void {
  for (const [gate, field] of statusFields)
    if (!feature(gate) && then[field] === undefined) delete status[field]
}

/**
 * Drops data sources that the feature gate does not allow, and keeps dataSource and dataSourceRef
 * consistent.
 */
function settleDataSources(claim: KubeObject, old: KubeObject | undefined, context: Context): void {
  const spec: Loose = (claim.spec ??= {})
  const anySource = context.feature('AnyVolumeDataSource')
  if (!anySource) delete spec.dataSourceRef
  dropDisabled(spec, old?.spec ?? {}, context)
  const used = old?.spec?.dataSource || old?.spec?.dataSourceRef
  const isKept =
    used ||
    spec.dataSourceRef ||
    (anySource && !releaseOf(context.release).has(claimsHaveReferences)) ||
    isClaimOrSnapshot(spec.dataSource, context)
  if (!isKept) delete spec.dataSource
  if (!anySource || !releaseOf(context.release).has(claimsHaveReferences)) return
  if (spec.dataSource && !spec.dataSourceRef) {
    spec.dataSourceRef = copyData(spec.dataSource)
  } else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    spec.dataSource = copyData(spec.dataSourceRef)
  }
}

function checkStatus(claim: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const errors = resourceVersionRequired(claim.metadata.resourceVersion)
  if (!claim.spec?.accessModes?.length) errors.push(required('Spec.accessModes'))
  const path = FieldPath.of('status', 'capacity')
  const capacity = claim.status?.capacity
  return [
    ...errors,
    ...sortedKeys(capacity).flatMap((name) => checkBasicResource(capacity[name], path.key(name))),
    ...(canUndoGrowth(context, old) ? checkAllocation(claim.status ?? {}) : []),
  ]
}

/**
 * kube-apiserver validates a changed claim completely, and then again together with its immutable
 * fields.
 */
export const persistentVolumeClaimBehaviour: Behaviour = {
  resetFields: [['status']],
  prepareForCreate(object, context) {
    object.status = {}
    settleDataSources(object, undefined, context)
  },
  readBack(object) {
    object.status = { phase: 'Pending' }
  },
  prepareForUpdate(next, old, context) {
    keepStatus(next, old)
    settleDataSources(next, old, context)
  },
  warningsOnCreate: claimWarnings,
  warningsOnUpdate: (next, _old, context) => claimWarnings(next, context),
  validateCreate: checkSpec,
  validateUpdate: (next, old, context) => {
    const whole = [
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...checkSpec(next, context, old),
    ]
    return [
      ...whole,
      ...checkMetadataUpdate(next, old),
      ...whole,
      ...checkChanges(next, old, context),
    ]
  },
  subresources: {
    status: {
      resetFields: [['spec']],
      prepareForUpdate(next, old, context) {
        keepSpec(next, old)
        const kept = context.feature('ExpandPersistentVolumes') || old.status?.conditions
        if (!kept && next.status) delete next.status.conditions
        if (next.status) dropDisabledStatus(next.status, old.status ?? {}, context)
      },
      validateUpdate: (next, old, context) => [
        ...checkMetadataUpdate(next, old),
        ...checkStatus(next, old, context),
      ],
    },
  },
}
