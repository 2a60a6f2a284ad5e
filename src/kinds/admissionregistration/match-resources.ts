/**
 * Which requests a policy or a binding is about: selectors, and rules that include or exclude
 * resources.
 */
import { duplicate, type FieldError, notSupported, required } from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { selectorValuesAreChecked, validateLabelSelector } from '#api/label-rules.ts'
import { pathSegmentName } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { change, type Release } from '#api/releases/change.ts'
import { checkOneOfRequired, each, repeats } from '#kinds/all-kinds/checks.ts'
import { checkWebhookRule } from './webhook-rules.ts'

const namesObjectSelector = change('errors of admission policies name the field objectSelector', {
  since: 29,
})

export function checkMatchResources(
  resources: Loose | null | undefined,
  path: FieldPath,
  release: Release,
): FieldError[] {
  if (resources === undefined || resources === null) return []
  const { matchPolicy, namespaceSelector, objectSelector } = resources
  const selector = release.has(namesObjectSelector) ? 'objectSelector' : 'labelSelector'
  const checkSelector = (value: Loose | null | undefined, at: FieldPath) =>
    value === undefined || value === null
      ? [required(at)]
      : validateLabelSelector(value, at, release.has(selectorValuesAreChecked))
  return [
    ...checkOneOfRequired(matchPolicy, ['Equivalent', 'Exact'], path.child('matchPolicy')),
    ...checkSelector(namespaceSelector, path.child('namespaceSelector')),
    ...checkSelector(objectSelector, path.child(selector)),
    ...checkRules(resources.resourceRules ?? [], path.child('resourceRules')),
    ...checkRules(resources.excludeResourceRules ?? [], path.child('excludeResourceRules')),
  ]
}

const checkRules = (rules: readonly Loose[], path: FieldPath): FieldError[] =>
  rules.flatMap((rule, i) => {
    const at = path.index(i)
    const names: string[] = rule.resourceNames ?? []
    return [...checkNames(names, at.child('resourceNames')), ...checkWebhookRule(rule, at)]
  })

function checkNames(names: string[], path: FieldPath): FieldError[] {
  const isRepeated = repeats(names)
  return names.flatMap((name, i) => [
    ...each(path.index(i), name, pathSegmentName(name)),
    ...(isRepeated[i] ? [duplicate(path.index(i), name)] : []),
  ])
}

const mutatedOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

/** An object that is deleted cannot be changed. */
export function checkMutatedOperations(
  resources: Loose | null | undefined,
  path: FieldPath,
): FieldError[] {
  const at = path.child('resourceRules').child('operations')
  const rules: Loose[] = resources?.resourceRules ?? []
  return rules
    .flatMap((rule): string[] => rule.operations ?? [])
    .filter((operation) => !mutatedOperations.includes(operation))
    .map((operation) => notSupported(at, operation, mutatedOperations))
}
