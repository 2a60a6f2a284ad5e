/**
 * VolumeAttributesClass: attributes of volumes that a driver can change. The class's parameters are
 * immutable.
 */
import { type FieldError, forbidden, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain, qualifiedName } from '#api/names.ts'
import type { KubeObject } from '#api/object-meta.ts'
import { each, isAsBefore } from '#kinds/all-kinds/checks.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour } from '#kinds/kind.ts'
import { checkParameters } from '#kinds/storage/class-parameters.ts'

const driverPath = FieldPath.of('driverName')
const parametersPath = FieldPath.of('parameters')

function check(object: KubeObject): FieldError[] {
  const driver: string = object.driverName ?? ''
  const parameters: Record<string, string> = object.parameters ?? {}
  const lowered = driver.toLowerCase()
  const errors = [
    ...(driver === '' ? [required(driverPath)] : each(driverPath, lowered, qualifiedName(lowered))),
    ...checkParameters(parameters, parametersPath),
  ]
  return Object.keys(parameters).length === 0
    ? [...errors, required(parametersPath, 'must contain at least one key/value pair')]
    : errors
}

export const volumeAttributesClassBehaviour: Behaviour = {
  validateCreate: check,
  validateUpdate: (next, old) => [
    ...checkMetadataUpdate(next, old),
    ...['driverName', 'parameters'].flatMap((field) =>
      isAsBefore(next, old, field) ? [] : [forbidden(field, `updates to ${field} are forbidden.`)],
    ),
    ...checkMetadata(next, false, nameIsDnsSubdomain),
    ...check(next),
  ],
}
