/**
 * StorageVersionMigration: rewrites every object of a resource in the version that is stored now.
 */
import { type FieldError, invalid, required } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { goQuote, goStruct } from '#api/go-syntax.ts'
import { dns1035Label, dns1123Subdomain, nameIsDnsSubdomain } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { releaseOf } from '#api/releases/change.ts'
import { sameJson } from '#kinds/all-kinds/checks.ts'
import { checkConditions, goConditions } from '#kinds/all-kinds/conditions.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkMetadata, checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import { keepObjectMetaForStatus, keepSpec, keepStatus } from '#kinds/all-kinds/strategy.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'

const specPath = FieldPath.of('spec')
const specType = 'io.k8s.api.storagemigration.v1.StorageVersionMigrationSpec'
const resourcePath = specPath.child('resource')
const versionPath = FieldPath.of('status', 'resourceVersion')
const conditionsPath = FieldPath.of('status', 'conditions')

function check(object: KubeObject): FieldError[] {
  const { group = '', resource = '' }: Loose = object.spec?.resource ?? {}
  const joined = (field: string, value: string, problems: string[]) =>
    problems.length === 0 ? [] : [invalid(resourcePath.child(field), value, problems.join(','))]
  return [
    ...(resource === ''
      ? [required(resourcePath.child('resource'), 'resource is required to be set')]
      : joined('resource', resource, dns1035Label(resource))),
    ...(group === '' ? [] : joined('group', group, dns1123Subdomain(group))),
  ]
}

function shownSpec({ spec }: KubeObject) {
  const { group = '', resource = '' }: Loose = spec?.resource ?? {}
  const before34 = goStruct('storagemigration.StorageVersionMigrationSpec', [
    [
      'Resource',
      goStruct('v1.GroupResource', [
        ['Group', goQuote(group)],
        ['Resource', goQuote(resource)],
      ]),
    ],
  ])
  return internalValue(specType, spec ?? {}, before34.text)
}

const isTrue = (object: KubeObject, type: string): boolean =>
  (object.status?.conditions ?? []).find((one: Loose) => one.type === type)?.status === 'True'

function checkStatus(next: KubeObject, old: KubeObject, { release }: Context): FieldError[] {
  const [now, before]: string[] = [next, old].map(({ status }) => status?.resourceVersion ?? '')
  const conditions: Loose[] = next.status?.conditions ?? []
  const errors = checkMetadataUpdate(next, old)
  if (now !== '' && !/^[1-9][0-9]*$/.test(now as string)) {
    errors.push(invalid(versionPath, now, `resource version is not well formed: ${now}`))
  }
  errors.push(...checkConditions(conditions, conditionsPath, releaseOf(release)))
  if (before !== '' && before !== now) errors.push(invalid(versionPath, now, immutableMessage))
  const wrong = (detail: string) =>
    errors.push(invalid(conditionsPath, goConditions(conditions), detail))
  if (isTrue(next, 'Succeeded') && isTrue(next, 'Failed')) {
    wrong('Both success and failed conditions cannot be true at the same time')
  }
  if (isTrue(old, 'Succeeded') && !isTrue(next, 'Succeeded')) {
    wrong('Success condition cannot be set to false once it is true')
  }
  if (isTrue(old, 'Failed') && !isTrue(next, 'Failed')) {
    wrong('Failed condition cannot be set to false once it is true')
  }
  return errors
}

export const storageVersionMigrationBehaviour: Behaviour = {
  unconditionalUpdate: false,
  resetFields: [['status']],
  prepareForCreate(object) {
    object.status = {}
  },
  prepareForUpdate: keepStatus,
  validateCreate: check,
  validateUpdate: (next, old) => [
    ...checkMetadata(next, false, nameIsDnsSubdomain),
    ...check(next),
    ...checkMetadataUpdate(next, old),
    ...(sameJson(next.spec, old.spec)
      ? []
      : [invalid(specPath, shownSpec(next), immutableMessage)]),
  ],
  subresources: {
    status: {
      resetFields: [['metadata'], ['spec']],
      prepareForUpdate(next, old) {
        keepSpec(next, old)
        keepObjectMetaForStatus(next, old)
      },
      validateUpdate: checkStatus,
    },
  },
}
