/** CSIStorageCapacity: how much room a driver has for a storage class. */
import { type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { checksSelectorValues, validateLabelSelector } from '#api/label-rules.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each, sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { checkQuantityNotNegative } from '#kinds/all-kinds/resource-names.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { goLabelSelector } from '#kinds/workloads/selectors.ts'

function checkCapacity(object: KubeObject, release: number, old?: KubeObject): FieldError[] {
  const name: string = object.storageClassName ?? ''
  const { capacity } = object
  return [
    ...validateLabelSelector(
      object.nodeTopology,
      FieldPath.of('nodeTopology'),
      checksSelectorValues(releaseOf(release), old?.nodeTopology),
    ),
    ...each(FieldPath.of('storageClassName'), name, nameIsDnsSubdomain(name, false)),
    ...(capacity === undefined ? [] : checkQuantityNotNegative(capacity, FieldPath.of('capacity'))),
  ]
}

const checkedTwice = change('each error of a new CSIStorageCapacity occurs twice', { until: 27 })

export const csiStorageCapacityBehaviour: Behaviour = {
  unconditionalUpdate: false,
  validateCreate: (object, { release }) =>
    releaseOf(release).has(checkedTwice)
      ? [
          ...checkCapacity(object, release),
          ...checkMetadata(object, true, nameIsDnsSubdomain),
          ...checkCapacity(object, release),
        ]
      : checkCapacity(object, release),
  validateUpdate(next, old, { release }) {
    const errors = [
      ...checkMetadata(next, true, nameIsDnsSubdomain),
      ...checkCapacity(next, release, old),
      ...checkMetadataUpdate(next, old),
    ]
    if (!sameJson(next.nodeTopology, old.nodeTopology)) {
      errors.push(invalid('nodeTopology', goLabelSelector(next.nodeTopology), immutableMessage))
    }
    if ((next.storageClassName ?? '') !== (old.storageClassName ?? '')) {
      errors.push(invalid('storageClassName', next.storageClassName ?? '', immutableMessage))
    }
    return errors
  },
}
