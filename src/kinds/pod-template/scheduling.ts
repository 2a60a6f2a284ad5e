/**
 * Validation of scheduling constraints: affinity to nodes and pods, tolerations, and topology
 * spread.
 */
import { change } from '#api/releases/change.ts'
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '#api/field-error.ts'
import type { FieldPath } from '#api/field-path.ts'
import { goQuote } from '#api/go-syntax.ts'
import { checksSelectorValues, validateLabelName, validateLabelSelector } from '#api/label-rules.ts'
import { labelValue, nameIsDnsLabel } from '#api/names.ts'
import type { Loose } from '#api/object-meta.ts'
import { checkOneOfIfSet, each } from '#kinds/all-kinds/checks.ts'
import { goToleration } from './go-values.ts'
import { checkLabelKeys, checkSpreadKeys } from './label-keys.ts'
import { checkNodeAffinity, checkWeight, hasInvalidNodeValues } from './node-affinity.ts'
import type { PodRules } from './pod-rules.ts'

const nodeValuesAreLabels = change('values of required node affinity must be label values', {
  since: 32,
})

export function checkAffinity(
  affinity: Loose | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  if (!affinity) return []
  const errors: FieldError[] = []
  if (affinity.nodeAffinity) {
    const before = rules.old?.affinity?.nodeAffinity?.[needed]
    const checkValues = rules.has(nodeValuesAreLabels) && !hasInvalidNodeValues(before)
    errors.push(
      ...checkNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity'), checkValues),
    )
  }
  const selectors = rules.old === undefined ? [] : podTermsOf(rules.old).flatMap(selectorsOf)
  const checkValues = checksSelectorValues(rules, ...selectors)
  for (const field of ['podAffinity', 'podAntiAffinity']) {
    if (affinity[field]) {
      errors.push(...checkPodAffinity(affinity[field], path.child(field), rules, checkValues))
    }
  }
  return errors
}

const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
const wanted = 'preferredDuringSchedulingIgnoredDuringExecution'

/** All terms of affinity to pods. */
export function podTermsOf(spec: Loose): Loose[] {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  return [podAffinity, podAntiAffinity].flatMap((affinity: Loose | null | undefined) => [
    ...(affinity?.[needed] ?? []),
    ...(affinity?.[wanted] ?? []).map((term: Loose) => term.podAffinityTerm ?? {}),
  ])
}

const selectorsOf = (term: Loose): Loose[] => [term.labelSelector, term.namespaceSelector]

function checkPodAffinity(
  affinity: Loose,
  path: FieldPath,
  rules: PodRules,
  checkValues: boolean,
): FieldError[] {
  const terms: Loose[] = affinity[needed] ?? []
  const weighted: Loose[] = affinity[wanted] ?? []
  const check = (term: Loose, at: FieldPath) => checkPodTerm(term, at, rules, checkValues)
  return [
    ...terms.flatMap((term, i) => check(term, path.child(needed).index(i))),
    ...weighted.flatMap((term, i) => {
      const at = path.child(wanted).index(i)
      return [
        ...checkWeight(term.weight ?? 0, at.child('weight')),
        ...check(term.podAffinityTerm ?? {}, at.child('podAffinityTerm')),
      ]
    }),
  ]
}

const namesSelector = change('errors of pod affinity name labelSelector', { since: 21 })

function checkPodTerm(
  term: Loose,
  path: FieldPath,
  { has }: PodRules,
  checkValues: boolean,
): FieldError[] {
  const selector = has(namesSelector) ? 'labelSelector' : 'matchExpressions'
  const errors = [
    ...validateLabelSelector(term.labelSelector, path.child(selector), checkValues),
    ...validateLabelSelector(term.namespaceSelector, path.child('namespaceSelector'), checkValues),
  ]
  for (const name of (term.namespaces ?? []) as string[]) {
    errors.push(...each(path.child('namespace'), name, nameIsDnsLabel(name, false)))
  }
  errors.push(...checkLabelKeys(term, path))
  const key: string = term.topologyKey ?? ''
  if (key === '') errors.push(required(path.child('topologyKey'), 'can not be empty'))
  errors.push(...validateLabelName(key, path.child('topologyKey')))
  return errors
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const checkTolerations = (
  tolerations: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] =>
  (tolerations ?? []).flatMap((toleration, i) => checkToleration(toleration, path.index(i), rules))

const showsValueAlone = change('errors of tolerations with Exists show the value alone', {
  since: 32,
})
const knowsComparison = change('tolerations know Lt and Gt behind a gate', { since: 35 })

function checkToleration(toleration: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const errors: FieldError[] = []
  const { key = '', operator = '', value = '', effect = '' } = toleration
  if (key !== '') errors.push(...validateLabelName(key, path.child('key')))
  else if (operator !== 'Exists') {
    const detail =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalid(path.child('operator'), operator, detail))
  }
  if ((toleration.tolerationSeconds ?? undefined) !== undefined && effect !== 'NoExecute') {
    const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
    errors.push(invalid(path.child('effect'), effect, detail))
  }
  if (operator === 'Equal' || operator === '') {
    const problems = labelValue(value)
    if (problems.length > 0) {
      errors.push(invalid(path.child('operator'), value, problems.join(';')))
    }
  } else if (operator === 'Exists') {
    const shown = rules.has(showsValueAlone) ? value : goToleration(toleration)
    const detail = "value must be empty when `operator` is 'Exists'"
    if (value !== '') errors.push(invalid(path.child('operator'), shown, detail))
  } else if (isComparison(operator) && rules.has(knowsComparison)) {
    errors.push(...checkComparison(operator, value, path, rules))
  } else {
    errors.push(notSupported(path.child('operator'), operator, ['Equal', 'Exists']))
  }
  if (effect !== '' && !taintEffects.includes(effect)) {
    errors.push(notSupported(path.child('effect'), effect, taintEffects))
  }
  return errors
}

const isComparison = (operator: string): boolean => operator === 'Lt' || operator === 'Gt'
const int64Max = 2n ** 63n - 1n

function checkComparison(
  operator: string,
  value: string,
  path: FieldPath,
  { feature, old }: PodRules,
): FieldError[] {
  const tolerated: Loose[] = old?.tolerations ?? []
  const isOn =
    feature('TaintTolerationComparisonOperators') ||
    tolerated.some((toleration) => isComparison(toleration.operator))
  if (!isOn) {
    return [notSupported(path.child('operator'), operator, ['Equal', 'Exists', 'Lt', 'Gt'])]
  }
  const at = path.child('value')
  const errors: FieldError[] = []
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(value)) {
    errors.push(invalid(at, value, decimalProblem(value)))
  }
  const problem = parseIntProblem(value)
  if (problem !== undefined) errors.push(invalid(at, value, problem))
  return errors
}

const decimalProblem = (value: string): string =>
  value === '' ? 'must be non-empty' : 'must be a valid decimal integer in canonical form'

function parseIntProblem(value: string): string | undefined {
  const failed = (why: string) => `strconv.ParseInt: parsing ${goQuote(value)}: ${why}`
  if (!/^[+-]?[0-9]+$/.test(value)) return failed('invalid syntax')
  const number = BigInt(value.replace('+', ''))
  return number > int64Max || number < -int64Max - 1n ? failed('value out of range') : undefined
}

/** Tolerations of a pod can be added, and last longer or shorter; nothing else of them changes. */
export function checkOnlyAddedTolerations(
  next: Loose[] | null | undefined,
  old: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const textOf = ({ key, operator, value, effect }: Loose) =>
    JSON.stringify([key, operator, value, effect].map((part) => part || null))
  const kept = new Set((next ?? []).map(textOf))
  for (const before of old ?? []) {
    if (kept.has(textOf(before))) continue
    const detail = 'existing toleration can not be modified except its tolerationSeconds'
    return [forbidden(path, detail)]
  }
  return checkTolerations(next, path, rules)
}

const unsatisfiable = ['DoNotSchedule', 'ScheduleAnyway']

const checksSpreadSelectors = change(
  'label selectors of topology spread constraints are validated',
  {
    since: 27,
  },
)

export function checkTopologySpread(
  constraints: Loose[] | null | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const all = constraints ?? []
  if (all.length === 0) return errors
  const before: Loose[] = rules.old?.topologySpreadConstraints ?? []
  const checksSelectors =
    rules.has(checksSpreadSelectors) &&
    !before.some((one) => validateLabelSelector(one.labelSelector, path, true).length > 0)
  const keyOf = (constraint: Loose) =>
    `{${constraint.topologyKey ?? ''}, ${constraint.whenUnsatisfiable ?? ''}}`
  const lastPlace = new Map(all.map((constraint, i) => [keyOf(constraint), i]))
  all.forEach((constraint, i) => {
    const at = path.index(i)
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable: action = '' } = constraint
    if (maxSkew <= 0)
      errors.push(invalid(at.child('maxSkew'), maxSkew, 'must be greater than zero'))
    if (topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'))
    errors.push(...checkOneOfIfSet(action, unsatisfiable, at.child('whenUnsatisfiable')))
    const key = keyOf(constraint)
    if (lastPlace.get(key) !== i) {
      errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), key))
    }
    errors.push(...checkSpreadDetails(constraint, at, rules))
    if (!checksSelectors) return
    errors.push(...validateLabelSelector(constraint.labelSelector, at.child('labelSelector'), true))
  })
  return errors
}

const inclusionPolicies = ['Honor', 'Ignore']

function checkSpreadDetails(constraint: Loose, path: FieldPath, rules: PodRules): FieldError[] {
  const { minDomains, nodeAffinityPolicy, nodeTaintsPolicy, whenUnsatisfiable = '' } = constraint
  const errors: FieldError[] = []
  if (typeof minDomains === 'number') {
    const at = path.child('minDomains')
    if (minDomains <= 0) errors.push(invalid(at, minDomains, 'must be greater than zero'))
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`
      errors.push(invalid(at, minDomains, detail))
    }
  }
  errors.push(
    ...checkOneOfIfSet(nodeAffinityPolicy, inclusionPolicies, path.child('nodeAffinityPolicy')),
    ...checkOneOfIfSet(nodeTaintsPolicy, inclusionPolicies, path.child('nodeTaintsPolicy')),
    ...checkSpreadKeys(constraint, path, rules),
  )
  return errors
}
