/** The status of a CSINode: the health of the storage that the drivers of the node report. */
import {
  duplicate,
  type FieldError,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { conditionReason, longerThan } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { each } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Context, SubresourceBehaviour } from '#kinds/kind.ts'
import { checkCsiDriverName } from '#kinds/pod-template/network-volumes.ts'

const path = FieldPath.of('status', 'storageHealth')
const statuses = ['StorageDegraded', 'StorageUnreachable']
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Block', 'Filesystem']
const conditionsMax = 16
const reasonLengthMax = 256
const messageLengthMax = 1024

/** Older releases have no status, and leave none in the object. */
export function clearNodeStatus(node: KubeObject): void {
  if (node.status !== undefined) node.status = {}
}

export function keepNodeStatus(next: KubeObject, old: KubeObject): void {
  if (next.status !== undefined || old.status !== undefined) keepStatus(next, old)
}

/** Without the feature gate, a node keeps the health that it already has. */
function dropDisabledHealth(next: KubeObject, old: KubeObject, { feature }: Context): void {
  const had = old.status?.storageHealth ?? []
  if (!feature('CSIVolumeHealth') && had.length === 0) delete next.status?.storageHealth
}

function checkHealth(node: KubeObject): FieldError[] {
  const seen = new Set<string>()
  const all: Loose[] = node.status?.storageHealth ?? []
  return all.flatMap(({ name = '', healthConditions = [] }, i) => {
    const at = path.index(i)
    const errors = seen.has(name) ? [duplicate(at, name)] : []
    seen.add(name)
    if (name === '') errors.push(required(at.child('name')))
    else errors.push(...checkCsiDriverName(name, at.child('name')))
    const conditions: Loose[] = healthConditions
    const list = at.child('healthConditions')
    if (conditions.length > conditionsMax)
      return [...errors, tooMany(list, conditions.length, conditionsMax)]
    return [...errors, ...conditions.flatMap((one, n) => checkCondition(one, list.index(n)))]
  })
}

function checkCondition(condition: Loose, at: FieldPath): FieldError[] {
  const { status = '', reason = '', message = '', accessMode, volumeMode } = condition
  const errors: FieldError[] = []
  if (!statuses.includes(status)) errors.push(notSupported(at.child('status'), status, statuses))
  const reasonPath = at.child('reason')
  if (reason === '') errors.push(required(reasonPath))
  else {
    errors.push(...each(reasonPath, reason, conditionReason(reason)))
    if (longerThan(reason, reasonLengthMax))
      errors.push(tooLong(reasonPath, reason, reasonLengthMax))
  }
  if (longerThan(message, messageLengthMax))
    errors.push(tooLong(at.child('message'), message, messageLengthMax))
  if (accessMode != null && !accessModes.includes(accessMode))
    errors.push(notSupported(at.child('accessMode'), accessMode, accessModes))
  if (volumeMode != null && !volumeModes.includes(volumeMode))
    errors.push(notSupported(at.child('volumeMode'), volumeMode, volumeModes))
  return errors
}

export const nodeStatus: SubresourceBehaviour = {
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate(next, old, context) {
    keepSpec(next, old)
    keepObjectMetaForStatus(next, old)
    dropDisabledHealth(next, old, context)
  },
  validateUpdate: (next, old) => [...checkMetadataUpdate(next, old), ...checkHealth(next)],
}
