/** PersistentVolumeClaim: what it asks for, which may only grow once it is bound. */
import { change, releaseOf } from '#api/releases/change.ts'
import { type FieldError, forbidden, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { compareQuantities } from '#api/quantity.ts'
import { copyData } from '#base/copy-data.ts'
import { resourceVersionRequired, samePart, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkBasicResource } from '#kinds/all-kinds/resource-names.ts'
import { goDifference } from '#kinds/all-kinds/go-difference.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { oncePodIn } from './access-modes.ts'
import { checkClaimSpec } from './claim-spec.ts'
import { keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { ownValue } from '#kinds/own-key.ts'
import { immutableWords } from '#kinds/core/persistent-volume/immutable-words.ts'

const classKey = 'volume.beta.kubernetes.io/storage-class'

function checkSpec(claim: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const once = oncePodIn(context, old?.spec?.accessModes)
  return checkClaimSpec(claim.spec ?? {}, FieldPath.of('spec'), once, context.release)
}

const annotated = (claim: KubeObject): string | undefined =>
  ownValue(claim.metadata.annotations, classKey)

/** A claim that named its class in the annotation may name the same one in the field instead. */
function movesClassToField(next: KubeObject, old: KubeObject): boolean {
  const [then, now] = [annotated(old), annotated(next)]
  return (
    then !== undefined &&
    old.spec?.storageClassName === undefined &&
    next.spec?.storageClassName === then &&
    (now === undefined || now === then)
  )
}

function checkChanges(next: KubeObject, old: KubeObject, context: Context): FieldError[] {
  const errors: FieldError[] = []
  const [now, then]: [Loose, Loose] = [copyData(next.spec ?? {}), copyData(old.spec ?? {})]
  if (!then.volumeName && now.volumeName) then.volumeName = now.volumeName
  if (movesClassToField(next, old)) delete now.storageClassName
  else if ((annotated(next) ?? '') !== (annotated(old) ?? '')) {
    const path = FieldPath.of('metadata', 'annotations', classKey)
    errors.push(invalid(path, annotated(next) ?? '', immutableMessage))
  }
  const size = now.resources?.requests?.storage
  const oldSize = then.resources?.requests?.storage
  const canGrow = context.feature('ExpandPersistentVolumes')
  if (canGrow && next.status?.phase === 'Bound' && now.resources?.requests) {
    now.resources.requests.storage = oldSize
  }
  if (!samePart(now, then)) {
    const words = canGrow
      ? 'is immutable after creation except resources.requests for bound claims'
      : 'is immutable after creation'
    const shown = () => goDifference('core.PersistentVolumeClaimSpec', now, then)
    const subject = canGrow ? 'spec' : 'field'
    errors.push(forbidden('spec', immutableWords(context.release, subject, words, shown, !canGrow)))
  }
  if (canGrow && compareQuantities(size ?? '0', oldSize ?? '0') < 0) {
    const detail = 'field can not be less than previous value'
    errors.push(forbidden('spec.resources.requests.storage', detail))
  }
  const [mode, oldMode] = [next.spec?.volumeMode, old.spec?.volumeMode]
  if (mode !== oldMode) errors.push(invalid('volumeMode', mode, immutableMessage))
  return errors
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

/** Which data sources are kept: any, or only claims and snapshots; the two fields are one thing said twice. */
function settleDataSources(claim: KubeObject, old: KubeObject | undefined, context: Context): void {
  const spec: Loose = (claim.spec ??= {})
  const anySource = context.feature('AnyVolumeDataSource')
  if (!anySource) delete spec.dataSourceRef
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
  } else if (spec.dataSourceRef && !spec.dataSource) {
    spec.dataSource = copyData(spec.dataSourceRef)
  }
}

function checkStatus(claim: KubeObject): FieldError[] {
  const errors = resourceVersionRequired(claim.metadata.resourceVersion)
  if (!claim.spec?.accessModes?.length) errors.push(required('Spec.accessModes'))
  const path = FieldPath.of('status', 'capacity')
  const capacity = claim.status?.capacity
  return [
    ...errors,
    ...sortedKeys(capacity).flatMap((name) => checkBasicResource(capacity[name], path.key(name))),
  ]
}

/** The original checks a changed claim whole, then once more together with what may not change. */
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
      },
      validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...checkStatus(next)],
    },
  },
}
