/**
 * Computes the status of a definition: its accepted names, and the conditions that follow from its
 * spec. Pure; the time is an argument.
 */
import { change, releaseOf } from '#api/releases/change.ts'
import { FieldPath } from '#api/field-path.ts'
import { type FieldError, invalid } from '#api/field-error.ts'
import type { KubeObject, Loose } from '#api/object-meta.ts'
import {
  approvalOf,
  isProtectedGroup,
} from '#kinds/apiextensions/custom-resource-definition/approval.ts'
import { checkStructural, unsupported } from '#schema/structural/rules.ts'
import {
  type Condition,
  conditionOf,
  isTrue,
  removeCondition,
  sameCondition,
  setCondition,
} from './conditions.ts'
import { acceptNames, sameNames } from './names.ts'

const established: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}
const notAccepted: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
}

const needsApproval = change('definitions in groups of Kubernetes need an approval annotation', {
  since: 16,
})
const namesVersions = change('the condition NonStructuralSchema names versions, not indexes', {
  until: 16,
})
const preservingIsNonStructural = change(
  'preserveUnknownFields makes a definition non-structural',
  { since: 20 },
)

/**
 * Returns the definition with its new status; undefined if nothing changes. `release`: the emulated
 * minor release.
 */
export function settle(
  definition: KubeObject,
  group: Iterable<KubeObject>,
  now: string,
  release: number,
): KubeObject | undefined {
  const next = { ...definition, status: structuredClone(definition.status) }
  next.status ??= { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [] }
  // kube-apiserver sets the approval condition at once and the names later, so clients see the
  // conditions in this order.
  const approval = releaseOf(release).has(needsApproval) ? approvalCondition(definition) : undefined
  if (approval !== undefined) apply(next, approval, now)
  settleNames(next, group, now)
  if (isTrue(next, 'NamesAccepted') && !isTrue(next, 'Established')) apply(next, established, now)
  const structural = nonStructural(definition, release)
  if (structural !== undefined) apply(next, structural, now)
  else if (conditionOf(next, 'NonStructuralSchema') !== undefined) {
    removeCondition(next, 'NonStructuralSchema')
  }
  return JSON.stringify(next.status) === JSON.stringify(definition.status) ? undefined : next
}

/**
 * kube-apiserver checks names only if the requested names differ from the accepted ones. Otherwise
 * the definition keeps its conditions, even if a client removed them.
 */
function settleNames(next: KubeObject, group: Iterable<KubeObject>, now: string): void {
  if (sameNames(next.spec.names, next.status.acceptedNames)) return
  const { names, condition } = acceptNames(next, group)
  const before = conditionOf(next, 'NamesAccepted')
  if (sameNames(names, next.status.acceptedNames) && sameCondition(condition, before)) return
  next.status.acceptedNames = names
  apply(next, condition, now)
  if (conditionOf(next, 'Established') === undefined) apply(next, notAccepted, now)
}

function apply(definition: KubeObject, condition: Condition, now: string): void {
  if (sameCondition(condition, conditionOf(definition, condition.type))) return
  setCondition(definition, condition, now)
}

/** The condition for a schema that is not structural, which older definitions may have. */
function nonStructural({ spec }: KubeObject, release: number): Condition | undefined {
  // If unknown fields are pruned, validation has already rejected a nonstructural schema.
  if (spec.preserveUnknownFields !== true) return undefined
  const errors: FieldError[] = []
  if (releaseOf(release).has(preservingIsNonStructural)) {
    errors.push(invalid('spec.preserveUnknownFields', true, 'must be false'))
  }
  const versions: Loose[] = spec.versions
  const isShared = releaseOf(release).has(namesVersions) && haveOneSchema(versions)
  for (const [i, version] of (isShared ? versions.slice(0, 1) : versions).entries()) {
    const schema = version.schema?.openAPIV3Schema
    if (schema === undefined || schema === null) continue
    const problem = unsupported(schema)
    if (problem !== undefined) {
      const which = isShared
        ? 'global validation schema'
        : `validation schema for version ${version.name}`
      const message = `failed to check ${which}: ${problem}`
      return { type: 'NonStructuralSchema', status: 'Unknown', reason: 'StructuralError', message }
    }
    const place = isShared
      ? FieldPath.of('spec', 'validation')
      : releaseOf(release).has(namesVersions)
        ? FieldPath.of('spec', 'version').key(version.name).child('schema')
        : FieldPath.of('spec', 'versions').index(i).child('schema')
    errors.push(...checkStructural(schema, place.child('openAPIV3Schema')))
  }
  if (errors.length === 0) return undefined
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  const message = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return { type: 'NonStructuralSchema', status: 'True', reason: 'Violations', message }
}

/** v1beta1 has one schema for all versions if they are equal. */
const haveOneSchema = (versions: readonly Loose[]): boolean =>
  new Set(versions.map(({ schema }) => JSON.stringify(schema))).size === 1

const approvals = {
  invalid: ['False', 'InvalidAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
} as const

function approvalCondition(definition: KubeObject): Condition | undefined {
  if (!isProtectedGroup(definition.spec.group)) return undefined
  const { state, reason: message } = approvalOf(definition)
  const [status, reason] = approvals[state]
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message }
}
