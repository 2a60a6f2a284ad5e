/**
 * Workload up to 1.36. In 1.35 it lists its pod groups, and validation is written by hand; tags
 * declare the rules of 1.36.
 */
import { duplicate, type FieldError, invalid, required, tooMany } from '#api/field-error.ts'
import { FieldPath } from '#api/field-path.ts'
import { dns1123Label, dns1123Subdomain, nameIsPathSegment } from '#api/names.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import { immutableMessage } from '#api/object-meta-rules.ts'
import { change, releaseOf } from '#api/releases/change.ts'
import { each, repeats, sameJson } from '#kinds/all-kinds/checks.ts'
import { internalValue } from '#kinds/all-kinds/internal-value.ts'
import { checkMetadataUpdate } from '#kinds/all-kinds/metadata.ts'
import type { Behaviour, Context } from '#kinds/kind.ts'
import { dropDisabledOfTemplates } from '#kinds/scheduling/disabled-fields.ts'

const listsGroups = change('a workload lists its pod groups', { until: 35 })

const specPath = FieldPath.of('spec')
const groupsPath = specPath.child('podGroups')
const groupsMax = 8
const type = (name: string) => `io.k8s.api.scheduling.v1alpha1.${name}`

function checkController(ref: Loose): FieldError[] {
  const path = specPath.child('controllerRef')
  const { apiGroup = '' } = ref
  const segment = (field: string): FieldError[] => {
    const value: string = ref[field] ?? ''
    const at = path.child(field)
    return value === '' ? [required(at)] : each(at, value, nameIsPathSegment(value, false))
  }
  return [
    ...(apiGroup === '' ? [] : each(path.child('apiGroup'), apiGroup, dns1123Subdomain(apiGroup))),
    ...segment('kind'),
    ...segment('name'),
  ]
}

function checkPolicy({ basic, gang }: Loose, path: FieldPath): FieldError[] {
  const detail = 'exactly one of `basic`, `gang` is required'
  if (!basic && !gang) return [required(path, detail)]
  if (basic && gang)
    return [invalid(path, '{`basic`, `gang`}', `${detail}, but multiple fields are set`)]
  const count = gang?.minCount ?? 0
  if (basic || count > 0) return []
  return [invalid(path.child('gang').child('minCount'), count, 'must be greater than zero')]
}

function checkGroups(groups: Loose[]): FieldError[] {
  if (groups.length === 0) return [required(groupsPath, 'must have at least one item')]
  if (groups.length > groupsMax) return [tooMany(groupsPath, groups.length, groupsMax)]
  const names = groups.map(({ name = '' }) => name as string)
  const isRepeated = repeats(names)
  return groups.flatMap(({ policy = {} }, i) => {
    const [path, name] = [groupsPath.index(i), names[i] as string]
    return [
      ...each(path.child('name'), name, dns1123Label(name)),
      ...(isRepeated[i] ? [duplicate(path.child('name'), name)] : []),
      ...checkPolicy(policy, path.child('policy')),
    ]
  })
}

function check({ spec = {} }: KubeObject, { release }: Context): FieldError[] {
  if (!releaseOf(release).has(listsGroups)) return []
  return [
    ...(spec.controllerRef ? checkController(spec.controllerRef) : []),
    ...checkGroups(spec.podGroups ?? []),
  ]
}

/** kube-apiserver omits `spec` from these paths. */
function checkChange(next: Loose, old: Loose, { release }: Context): FieldError[] {
  if (!releaseOf(release).has(listsGroups)) return []
  const kept = (field: string, name: string): FieldError[] =>
    sameJson(next[field], old[field])
      ? []
      : [invalid(field, internalValue(type(name), next[field]), immutableMessage)]
  return [
    ...(old.controllerRef ? kept('controllerRef', 'TypedLocalObjectReference') : []),
    ...kept('podGroups', 'PodGroup'),
  ]
}

export const olderWorkloadBehaviour: Behaviour = {
  prepareForCreate(object, context) {
    dropDisabledOfTemplates(object.spec ?? {}, undefined, context)
  },
  prepareForUpdate(next, old, context) {
    dropDisabledOfTemplates(next.spec ?? {}, old.spec, context)
  },
  validateCreate: check,
  validateUpdate: (next, old, context) => [
    ...checkMetadataUpdate(next, old),
    ...check(next, context),
    ...checkChange(next.spec ?? {}, old.spec ?? {}, context),
  ],
}
