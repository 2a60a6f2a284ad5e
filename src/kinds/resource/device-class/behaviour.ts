/** DeviceClass: selectors of devices, and parameters for their drivers, under a name. */
import { covered, type FieldError, invalid } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { isExtendedResource } from '#kinds/all-kinds/resource-names.ts'
import { dropUnlessUsed, raiseGeneration } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import {
  checkConfiguration,
  checkEach,
  checkSelectors,
  entriesMax,
} from '#kinds/resource/device-configuration.ts'

const path = FieldPath.of('spec')

function check(object: KubeObject, context: Context, old?: KubeObject): FieldError[] {
  const spec = object.spec ?? {}
  const isStored = (field: string) => old !== undefined && sameJson(spec[field], old.spec?.[field])
  const name: string | undefined = spec.extendedResourceName
  const at = path.child('extendedResourceName')
  const detail = 'must be a valid extended resource name'
  return [
    ...checkSelectors(
      spec.selectors ?? [],
      path.child('selectors'),
      context,
      isStored('selectors'),
    ),
    ...checkEach(
      (spec.config ?? []) as Loose[],
      entriesMax,
      path.child('config'),
      (config, place) => checkConfiguration(config, place, isStored('config')),
    ),
    ...(name === undefined || isExtendedResource(name) ? [] : [covered(invalid(at, name, detail))]),
  ]
}

const dropDisabled = (object: KubeObject, { feature }: Context, old?: KubeObject): void =>
  dropUnlessUsed(
    object.spec,
    'extendedResourceName',
    feature('DRAExtendedResource'),
    old?.spec?.extendedResourceName !== undefined,
  )

export const deviceClassBehaviour: Behaviour = {
  nameRule: (name, isPrefix) => (isPrefix ? [] : nameIsDnsSubdomain(name, false)),
  prepareForCreate(object, context) {
    object.metadata.generation = 1
    dropDisabled(object, context)
  },
  prepareForUpdate(next, old, context) {
    dropDisabled(next, context, old)
    raiseGeneration(next, old, ['spec'])
  },
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...check(next, context, old),
  ],
}
