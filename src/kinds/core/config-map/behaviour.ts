/** ConfigMap: keys, size, and data that may not change once immutable. */
import { type FieldError, forbidden, invalid, tooLong } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { configMapKey, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { each, isAsBefore, sameJson, sortedKeys } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { dropUnlessUsed } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { base64Length } from '#kinds/all-kinds/base64-length.ts'

/** The size limit of a ConfigMap or Secret. It fits into one write to etcd with a margin. */
export const dataSizeBytesMax = 1024 * 1024

function check(object: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key of sortedKeys(object.data)) {
    const path = FieldPath.of('data').key(key)
    errors.push(...each(path, key, configMapKey(key)))
    if (object.binaryData && Object.hasOwn(object.binaryData, key)) {
      errors.push(invalid(path, key, 'duplicate of key present in binaryData'))
    }
    size += Buffer.byteLength(object.data[key])
  }
  for (const key of sortedKeys(object.binaryData)) {
    errors.push(...each(FieldPath.of('binaryData').key(key), key, configMapKey(key)))
    size += base64Length(object.binaryData[key])
  }
  if (size > dataSizeBytesMax) errors.push(tooLong('[]', undefined, dataSizeBytesMax))
  return errors
}

const frozen = 'field is immutable when `immutable` is set'

function checkFrozen(next: KubeObject, old: KubeObject): FieldError[] {
  if (old.immutable !== true) return []
  const errors: FieldError[] = []
  if (next.immutable !== true) errors.push(forbidden('immutable', frozen))
  // Data that is left out is empty by default, so that no data is the same however it is written.
  if (!sameJson(next.data, old.data)) errors.push(forbidden('data', frozen))
  if (!isAsBefore(next, old, 'binaryData')) errors.push(forbidden('binaryData', frozen))
  return errors
}

/** Drops `immutable` if the feature gate is off, unless the old object has the field. */
export function dropFrozen(next: KubeObject, old: KubeObject | undefined, context: Context): void {
  const isFeature = context.feature('ImmutableEphemeralVolumes')
  dropUnlessUsed(next, 'immutable', isFeature, old?.immutable !== undefined)
}

export const configMapBehaviour: Behaviour = {
  prepareForCreate: (object, context) => dropFrozen(object, undefined, context),
  prepareForUpdate: dropFrozen,
  validateCreate: check,
  validateUpdate: (next, old) => [
    ...checkMetadataUpdate(next, old),
    ...checkFrozen(next, old),
    ...checkMetadata(next, true, nameIsDnsSubdomain),
    ...check(next),
  ],
}
